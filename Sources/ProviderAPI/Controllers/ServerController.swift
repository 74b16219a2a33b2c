import HTTPTypes
import Hummingbird
import NIOCore
import PushHTTP
import PushStore

/// `/health`, `/ready` and `/metrics`.
struct ServerController: Controller {
    let probe: ReadyProbe
    let metrics: ProviderMetrics

    private static let status = Schema.object(required: ["status": .string()]).named("Status")

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .get,
                path: "/health",
                id: "health",
                summary: "The process lives.",
                tag: .operation,
                answers: [.ok(Self.status, "It does.")]
            ) { _ in try JSONResponse.make(.ok, ["status": "ok"]) },
            APIOperation(
                method: .get,
                path: "/ready",
                id: "ready",
                summary: "The store can be read and written.",
                tag: .operation,
                answers: [.ok(Self.status, "It can.")],
                refusals: [503],
                handler: self.ready
            ),
            APIOperation(
                method: .get,
                path: "/metrics",
                id: "metrics",
                summary: "Figures for Prometheus.",
                tag: .operation,
                scope: .read,
                answers: [
                    ResponseDescription(
                        status: 200,
                        summary: "Text format 0.0.4.",
                        schema: .string(),
                        contentType: "text/plain"
                    )
                ],
                handler: self.figures
            ),
        ]
    }

    private func ready(_ call: OperationRequest) async throws -> Response {
        try await self.probe.check()
        return try JSONResponse.make(.ok, ["status": "ready"])
    }

    private func figures(_ call: OperationRequest) async throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: PrometheusText.contentType],
            body: .init(byteBuffer: ByteBuffer(string: try await self.metrics.text()))
        )
    }
}
