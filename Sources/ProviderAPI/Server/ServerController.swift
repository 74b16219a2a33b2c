import HTTPTypes
import NIOCore
import ProviderModel
import PushHTTP
import PushSupport

/// The operations `/health`, `/ready` and `/metrics`, which report the state of the process to monitoring systems.
struct ServerController: Controller {
    let probe: ReadyProbe
    let metrics: ProviderMetrics

    private static let status = Schema.object(required: [("status", .string())]).named("Status")

    var operations: [ProviderOperation] {
        [
            .init(.get, "/health", id: "health", "Reports that the process runs.") { _ in try .json(["status": "ok"]) }
                .tag(.operation).responses(.ok(Self.status, "It runs.")),
            .init(.get, "/ready", id: "ready", "Checks that the store can be read and written.") { _ in
                try await self.probe.check()
                return try .json(["status": "ready"])
            }
            .tag(.operation).responses(.ok(Self.status, "It can.")).errors(.unavailable),
            .init(.get, "/metrics", id: "metrics", "Metrics for Prometheus.") { _ in
                .content(ByteBuffer(string: try await self.metrics.text()), PrometheusText.contentType)
            }
            .tag(.operation).scope(.metrics)
            .responses(ResponseDescription(status: 200, "Text format 0.0.4.", .string(), contentTypes: ["text/plain"])),
        ]
    }
}
