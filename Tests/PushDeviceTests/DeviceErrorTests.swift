import NIOCore
import NIOPosix
import PushDevice
import PushTesting
import PushTypes
import PushWire
import Testing

/// Connections that fail: the device logs the error and tries again.
@Suite(.timeLimit(.patience)) struct DeviceErrorTests {
    @Test func aServiceWithAnotherCertificateGetsNothing() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice(authority: try SelfSignedCertificate()) { tested in
                let connection = try await service.connection()
                #expect(await connection.packet() == nil)
                _ = try await tested.delay()
                let line = try #require(tested.log.lines.first)
                #expect(line.hasPrefix("connection failed"))
                #expect(line.contains("CERTIFICATE_VERIFY_FAILED"))
            }
        }
    }

    @Test func aRefusedConnectionIsRetried() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        try await ScriptedPushService.with { service in
            try await service.withDevice(port: port.number) { tested in
                for _ in 0..<3 { _ = try await tested.delay() }
                #expect(tested.log.lines.filter { $0.hasPrefix("no connection to the push service") }.count >= 3)
            }
        }
    }

    @Test func aRejectedDeviceTriesAgain() async throws {
        let response = DeviceLinkConnectResponse(status: .rejected, serverTime: Timestamp(seconds: 0)).packet.encoded
        try await Self.expect("connection ended reason=rejected by the push service", after: response)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", "malformed packet"),
            ("\u{08}\0\0\0\u{02}\u{01}\0", "malformed packet"),
            ("\u{0c}\0\0\0\0", "packet before the response to Connect"),
        ]
    )
    func garbageInsteadOfAResponseEndsTheConnection(bytes: String, reason: String) async throws {
        try await Self.expect("connection ended reason=\(reason)", after: ByteBuffer(string: bytes))
    }

    @Test func garbageOnAnAcceptedConnectionEndsItAndTheNextOneWorks() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let first = try await service.acceptedConnection()
                _ = try await first.packet(.filter)
                first.send(ByteBuffer(bytes: [10, 0, 0, 0, 2, 1, 0]))
                _ = try await tested.delay()
                #expect(tested.log.lines.contains("connection ended reason=malformed packet"))
                let second = try await service.acceptedConnection()
                _ = try await second.packet(.filter)
                #expect(tested.log.lines.filter { $0 == "connected to the push service" }.count == 2)
            }
        }
    }

    @Test func aServiceThatLeavesIsLookedForAgain() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                for count in 1...3 {
                    let connection = try await service.acceptedConnection()
                    _ = try await connection.packet(.filter)
                    await connection.close()
                    _ = try await tested.delay()
                    #expect(tested.log.lines.filter { $0 == "connected to the push service" }.count == count)
                }
            }
        }
    }

    @Test func aTopicOfNoAppIsAnErrorForItsCallerOnly() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let token = Task {
                    try await tested.device.deviceToken(for: "com.example.App", timeout: .patience)
                }
                let connection = try await service.acceptedConnection()
                let request = try #require(DeviceLinkTokenRequest(try await connection.packet(.scopedToken)))
                connection.send(DeviceLinkTokenResponse(status: 2, token: [], topic: request.topic).packet)
                await #expect(throws: DeviceError.topicNotRegistered("com.example.App")) { try await token.value }
                tested.device.setActive(false)
                _ = try await connection.packet(.setState)
            }
        }
    }

    @Test func anIdentityThatIsNotOneEndsTheRun() async throws {
        let identity = DeviceIdentity(deviceID: "x", certificate: "x", privateKey: "x", serviceAuthority: "x")
        let device = Device(identity: identity, configuration: DeviceConfiguration(port: 1), logger: silentLogger)
        await #expect {
            try await device.run()
        } throws: { error in
            if case DeviceError.badIdentity = error { true } else { false }
        }
        await #expect(throws: CancellationError.self) {
            try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
        }
    }

    /// Responds to *Connect* with `bytes` and expects a line in the log before the reconnect.
    private static func expect(_ line: String, after bytes: ByteBuffer) async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let connection = try await service.connection()
                _ = try await connection.packet(.connect)
                connection.send(bytes)
                _ = try await tested.delay()
                #expect(tested.log.lines.contains(line))
                _ = try await service.connection().packet(.connect)
            }
        }
    }
}
