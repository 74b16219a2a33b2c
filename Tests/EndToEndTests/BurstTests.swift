import Foundation
import NIOCore
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Findings D1, the whole way: over HTTP/2, through the core and the device link.
@Suite(.timeLimit(.patience)) struct BurstTests {
    private static let count = 1000

    @Test(arguments: [false, true]) func aThousandPushesAtOnceArriveAThousandTimes(isStrict: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory, configure: { $0.rules = isStrict ? .strict : .lenient }) { gateway in
                try await gateway.registerVectors()
                let identity = try await gateway.activate()
                try await withDeviceConnected(to: gateway.addresses.main.deviceLink, identity, time: SystemTime()) {
                    let token = try await $0.deviceToken(for: Vectors.bundleID, timeout: .patience)
                    let outcomes = try await gateway.send(Self.count, to: token)
                    #expect(outcomes.count { if case .accepted = $0 { true } else { false } } == Self.count)
                    var received: [String] = []
                    for await notification in $0.notifications {
                        received.append(String(decoding: notification.payload, as: UTF8.self))
                        if received.count == Self.count { break }
                    }
                    #expect(Set(received).count == Self.count)
                    // What a device has received and not acknowledged is kept for its return.
                    try await gateway.untilAcknowledged()
                }
                #expect(try await gateway.counted("stored_offline") == 0)
                #expect(try await gateway.counted("refused_too_many") == 0)
                #expect(try await gateway.counted("replaced") == 0)
            }
        }
    }
}

extension RunningGateway {
    /// Sends so many pushes at once, each with a payload of its own.
    fileprivate func send(_ count: Int, to token: String) async throws -> [Outcome] {
        let endpoint = PushServiceEndpoint(
            host: "localhost",
            port: self.addresses.main.http2,
            additionalTrustRoots: self.gateway.authorityPEM
        )
        .patient
        let file = "\(self.dataDirectory)/AuthKey_\(Vectors.keyID).p8"
        try Vectors.privateKey.write(toFile: file, atomically: true, encoding: .utf8)
        let credential = try PushCredential.load(file: file, teamID: Vectors.teamID)
        let sender = try Sender(to: endpoint, credential: credential, configuration: .patient, logger: silentLogger)
        let (topic, token) = (try #require(Topic(Vectors.bundleID)), try #require(DeviceToken(hex: token)))
        let outcomes = await sender.send(
            (0..<count).map { number in
                let payload = ByteBuffer(string: #"{"aps":{"alert":"\#(number)"}}"#)
                let id = UUID().uuidString.lowercased()
                return Push(PushNotification(id: id, topic: topic, pushType: .alert, payload: payload), to: token)
            }
        )
        await sender.close()
        return outcomes
    }

    /// How often this has happened in the sandbox.
    fileprivate func counted(_ event: String) async throws -> Int64 {
        try await self.admin.get("/v1/counters").json["counters"].elements
            .filter { $0["name"] == .string(event) && $0["environment"] == "sandbox" }
            .reduce(0) { $0 + ($1["count"].integerValue ?? 0) }
    }
}
