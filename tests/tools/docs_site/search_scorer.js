// Points of what a search finds: those of Sphinx, except that measurements come after the pages that say how to do a thing.
var Scorer = {
  score: ([page, title, anchor, description, score]) => (page.startsWith("evidence/") ? score / 10 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
