import PushDevice
import PushTesting
import PushTypes
import PushWire
import Testing

/// A device link with two ports of which one does not work.
@Suite(.timeLimit(.patience)) struct DevicePortTests {
    @Test func theFallbackPortIsUsedUntilTheFirstOneWorks() async throws {
        let refusing = try RefusingPort()
        let port = refusing.number
        let time = ManualTime()
        try await ScriptedPushService.with { second in
            let configure: @Sendable (inout DeviceConfiguration) -> Void = { $0.fallbackPort = second.port }
            try await second.withDevice(port: port, time: time, configure: configure) { tested in
                let connection = try await second.acceptedConnection()
                _ = try await connection.packet(.filter)
                #expect(tested.log.lines.contains("push service is reached on its fallback port port=\(second.port)"))
                await connection.close()
                // Before its time the first port is left alone.
                let again = try await second.acceptedConnection()
                _ = try await again.packet(.filter)
                try await ScriptedPushService.with(port: port) { first in
                    time.advance(by: .seconds(61))
                    await again.close()
                    let returned = try await first.acceptedConnection()
                    _ = try await returned.packet(.filter)
                    #expect(tested.log.lines.contains("push service is reached on its first port again port=\(port)"))
                }
            }
        }
        withExtendedLifetime(refusing) {}
    }
}
