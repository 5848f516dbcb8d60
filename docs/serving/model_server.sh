# On paper: written from the documentation of OpenVINO Model Server, and not run by the tests of ov-gather.
#
# Serve a hardened model with OpenVINO Model Server. Its image needs the release of OpenVINO that the extension was compiled for
# (`python -c "import openvino; print(openvino.__version__)"`), since OpenVINO's libraries carry the release in their names.

mkdir -p models/recommender/1 extension
ov-gather harden model.xml -o models/recommender/1/model.xml --policy raise
cp "$(ov-gather extension path)" extension/

# The path of the extension is an option of the server, not of a model. Several streams (THROUGHPUT) are safe: our operations
# have no state. The server answers a request with an index out of bounds with an error that holds our message.
cat > models/config.json <<'END'
{
    "model_config_list": [
        {
            "config": {
                "name": "recommender",
                "base_path": "/models/recommender",
                "target_device": "CPU",
                "plugin_config": {"PERFORMANCE_HINT": "THROUGHPUT"}
            }
        }
    ]
}
END

docker run --rm -p 9000:9000 -p 8000:8000 -v "$PWD/models:/models:ro" -v "$PWD/extension:/extension:ro" \
    openvino/model_server:latest --config_path /models/config.json --port 9000 --rest_port 8000 \
    --cpu_extension "/extension/$(basename "$(ov-gather extension path)")"
