# Static validation for CI: Python, ov-gather and what `validate`, `prove` and `explain` need, without OpenVINO and compilers.
#
#     docker build -t ov-gather .
#     docker run --rm -v "$PWD:/work:ro" ov-gather validate models
#
# 140 MB. It runs as a user of its own. CI systems that run scripts in an image find `sh` and `ov-gather` on the path.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip
COPY . /src
# Validation calls no kernel: nothing is compiled.
RUN SKBUILD_WHEEL_CMAKE=false python3 -m pip install --no-cache-dir --no-compile --target /packages /src

# The same Python, as Debian has it; `debug` adds a shell.
FROM gcr.io/distroless/python3-debian12:debug-nonroot
COPY --from=build /packages /packages
ENV PYTHONPATH=/packages PYTHONDONTWRITEBYTECODE=1 PATH=/packages/bin:/usr/local/bin:/usr/bin:/bin:/busybox
WORKDIR /work
ENTRYPOINT ["ov-gather"]
CMD ["--help"]
