import Logging
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The metrics of a provider that works.
@Suite(.timeLimit(.patience)) struct ProviderMetricsTests {
    @Test func resultsAreCountedByAppEnvironmentAndReason() async throws {
        let sender = ScriptedSender()
        let tokens = (1...4).map(DeviceToken.numbered)
        sender.script(tokens[1], .rejected(Rejection(status: 400, reasonText: "BadCollapseId")))
        sender.script(tokens[2], .rejected(Rejection(status: 400, reasonText: "A new reason")))
        sender.script(tokens[3], .unknown(.init("lost")))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            for token in tokens { _ = try await provider.register(token.hex) }
            _ = try await provider.finished(try await provider.send(["to": ["all": true], "alert": "Hello"]))
            let text = try await provider.metrics()
            func labels(_ state: String, _ reason: String? = nil) -> String {
                let reason = reason.map { #",reason="\#($0)""# } ?? ""
                return #"{app="\#(Vectors.bundleID)",environment="sandbox"\#(reason),state="\#(state)"}"#
            }
            #expect(text.contains("martlet_deliveries_total\(labels("accepted")) 2\n"))
            #expect(text.contains("martlet_deliveries_total\(labels("rejected", "BadCollapseId")) 1\n"))
            #expect(text.contains("martlet_deliveries_total\(labels("rejected", "other")) 1\n"))
            let retries = #"{app="\#(Vectors.bundleID)",environment="sandbox",reason="connection"}"#
            #expect(text.contains("martlet_delivery_retries_total\(retries) 1\n"))
            #expect(text.contains(#"martlet_queue_start_seconds_count{lane="bulk"} 1"#))
            #expect(text.contains(#"martlet_queue_retry_seconds_count{lane="bulk"} 1"#))
            #expect(text.contains(#"martlet_pages_in_flight{lane="bulk"} 0"#))
        }
    }

    @Test func everyMetricHasAHelpTextAndAType() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let text = try await provider.metrics()
            let lines = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 3).map(String.init) }
            let helped = Set(lines.filter { $0.starts(with: ["#", "HELP"]) && $0.count == 4 }.map { $0[2] })
            let typed = lines.filter { $0.starts(with: ["#", "TYPE"]) }.map { $0[2] }
            #expect(helped == Set(typed))
            #expect(typed.count == Set(typed).count, "each name once")
        }
    }

    @Test func certificatesHaveTheirEndAndKeysHaveNone() async throws {
        let certificate = try SelfSignedCertificate.shared.get()
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let name = "martlet_certificate_expiry_timestamp_seconds"
            #expect(try await !provider.metrics().contains("\(name){"))
            let path = "/v1/apps/\(Vectors.bundleID)/credentials/production"
            let pem = "\(certificate.pem)\n\(certificate.key)"
            let response = try await provider.api.put(path, ["certificate": .string(pem)])
            #expect(response.status == 200)
            let expires = (response.json["expiresAtMs"].integerValue ?? 0) / 1000
            let labels = #"{app="\#(Vectors.bundleID)",environment="production"}"#
            #expect(try await provider.metrics().contains("\(name)\(labels) \(expires)\n"))
        }
    }

    @Test func startAndEndCredentialsAndTheBreakerHaveTheirLines() async throws {
        let log = RecordedLog(level: .info)
        defer { #expect(log.lines.last == "provider ended") }
        try await withProvider(senders: ScriptedSender(), logger: log.logger) { provider in
            #expect(log.lines.contains { $0.hasPrefix("provider is open api=http://127.0.0.1:") })
            try await provider.addVectorsApp(in: [.sandbox])
            let app = "/v1/apps/\(Vectors.bundleID)"
            #expect(try await provider.api.delete("\(app)/credentials/sandbox").status == 200)
            #expect(try await provider.api.call("POST", "\(app)/hygiene/sandbox:discard", nil).status == 200)
            let place = "app=\(Vectors.bundleID) "
            let lines = log.lines.filter { $0.contains(place) }
            #expect(
                lines == [
                    "credential set \(place)environment=sandbox kind=key",
                    "credential removed \(place)environment=sandbox",
                    "breaker closed \(place)decision=discard environment=sandbox tokens=0",
                ]
            )
        }
    }
}

extension RunningProvider {
    /// Returns the text of `/metrics`.
    fileprivate func metrics() async throws -> String {
        String(decoding: try await self.api.get("/metrics").body, as: UTF8.self)
    }
}
