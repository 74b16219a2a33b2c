import PushDevice
import PushTesting
import PushWire
import Testing

/// The end of callers and of the device itself.
@Suite(.timeLimit(.patience)) struct DeviceCancellationTests {
    @Test func aCancelledCallerStopsWaiting() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let connection = try await service.acceptedConnection()
                let caller = Task {
                    try await tested.device.deviceToken(for: "com.example.App", timeout: .patience)
                }
                _ = try await connection.packet(.scopedToken)
                caller.cancel()
                await #expect(throws: CancellationError.self) { try await caller.value }
            }
        }
    }

    @Test func theEndOfTheDeviceEndsItsCallersItsNotificationsAndItsConnection() async throws {
        try await ScriptedPushService.with { service in
            let identity = DeviceIdentity(selfSigned: service.certificate)
            var configuration = DeviceConfiguration(port: service.port)
            configuration.bePatient()
            let device = Device(identity: identity, configuration: configuration, logger: silentLogger)
            let run = Task { try await device.run() }
            let connection = try await service.acceptedConnection()
            let token = Task { try await device.deviceToken(for: "com.example.App", timeout: .patience) }
            _ = try await connection.packet(.scopedToken)
            let follow = Task { try await device.follow(channel: "AAAA", of: "com.example.App", timeout: .patience) }
            _ = try await connection.packet(.channel)
            run.cancel()
            try await run.value
            await #expect(throws: CancellationError.self) { try await token.value }
            await #expect(throws: CancellationError.self) { try await follow.value }
            for await _ in device.notifications { Issue.record("there was no notification") }
            #expect(await connection.packet() == nil)
        }
    }

    @Test func aDeviceBetweenTwoConnectionsEndsAtOnce() async throws {
        let identity = DeviceIdentity(selfSigned: try SelfSignedCertificate.shared.get())
        var configuration = DeviceConfiguration(port: 1)
        (configuration.reconnectBase, configuration.reconnectMaximum) = (.seconds(86_400), .seconds(86_400))
        let device = Device(identity: identity, configuration: configuration, logger: silentLogger)
        let run = Task { try await device.run() }
        let token = Task { try await device.deviceToken(for: "com.example.App", timeout: .seconds(86_400)) }
        run.cancel()
        try await run.value
        await #expect(throws: CancellationError.self) { try await token.value }
    }
}
