import PushSupport
import PushTesting
import Testing

/// Readiness and metrics.
@Suite(.timeLimit(.patience)) struct ServerControllerTests {
    @Test func itIsReadyAndCounts() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            var anonymous = provider.api
            anonymous.apiKey = nil
            #expect(try await anonymous.get("/ready").json == ["status": "ready"])
            #expect(try await anonymous.get("/metrics").status == 401)
            _ = try await provider.api.get("/v1/apps")
            let metrics = try await provider.api.get("/metrics")
            #expect(metrics.headers["content-type"]?.hasPrefix("text/plain") == true)
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains(#"martlet_api_requests_total{operation="listApps",status="200"} 1"#))
            #expect(text.contains(#"martlet_api_request_seconds_count{operation="listApps"} 1"#))
            #expect(text.contains("martlet_build_info{version="))
            #expect(text.contains("martlet_store_write_failures_total 0"))
        }
    }
}
