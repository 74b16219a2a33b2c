import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// `/metrics`, read as Prometheus reads it.
@Suite(.timeLimit(.patience)) struct MetricsTests {
    let time = ManualTime(SystemTime().now)

    @Test func everyNumberHasAHelpAndATypeAndIsThereOnce() async throws {
        try await self.withGateway { gateway in
            let response = try await gateway.admin.get("/metrics")
            #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ") }
            let helps = lines.filter { $0.hasPrefix("# HELP ") }.map { $0.split(separator: " ")[2] }
            #expect(types.allSatisfy { $0.count == 4 && ["gauge", "counter"].contains($0[3]) })
            #expect(types.map { $0[2] } == helps)
            #expect(Set(helps).count == helps.count)
            let samples = lines.filter { !$0.hasPrefix("#") }
            let keys = samples.map { $0.prefix { $0 != " " } }
            #expect(Set(keys).count == keys.count)
            for sample in samples {
                let parts = sample.split(separator: " ")
                #expect(parts.count == 2 && Double(parts[1]) != nil, "\(sample)")
                #expect(helps.contains(parts[0].prefix { $0 != "{" }))
            }
        }
    }

    @Test func itCountsWhatThereIs() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let token = try await gateway.withDevice(identity, self.time) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let sandbox = #"{environment="sandbox"}"#
                #expect(try await gateway.admin.metric("martlet_gateway_devices_online\(sandbox)") == 1)
                let courier = #"{environment="sandbox",listener="courier"}"#
                #expect(try await gateway.admin.metric("martlet_gateway_connections\(courier)") == 1)
                return token
            }
            try await gateway.isOnline(identity, false)
            #expect(try await gateway.pushStatus(token, time: self.time) == 200)
            let admin = gateway.admin
            #expect(try await admin.metric("martlet_gateway_devices") == 1)
            #expect(try await admin.metric(#"martlet_gateway_stored_messages{environment="sandbox"}"#) == 1)
            let stored = #"martlet_gateway_events_total{environment="sandbox",event="stored_offline"}"#
            #expect(try await admin.metric(stored) == 1)
            #expect(try await admin.metric(#"martlet_gateway_events_total{event="device_activated"}"#) == 1)
            #expect(try await admin.metric("martlet_gateway_event_backlog_limit") == 200_000)
            #expect(try await admin.metric("martlet_gateway_token_keys") == 1)
        }
    }

    private func withGateway(_ body: @escaping @Sendable (RunningGateway) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await PushTesting.withGateway(in: directory, time: self.time) { gateway in
                try await gateway.registerVectors()
                try await body(gateway)
            }
        }
    }
}

extension JSONClient {
    /// The number under this name and these labels; -1 if there is none.
    func metric(_ name: String) async throws -> Int {
        let text = String(decoding: try await self.get("/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Int($0.dropFirst(name.count + 1)) } ?? -1
    }
}
