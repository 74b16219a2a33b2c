import NIOCore
import NIOSSL
import PushSender
import PushTesting
import PushTypes
import Testing

/// Credentials whose transport is binary, from the pool of senders.
@Suite(.timeLimit(.patience)) struct BinaryTransportTests {
    private static func push(_ type: PushType = .alert, topic: String = Vectors.bundleID) -> Push {
        var push = Vectors.push(topic: topic)
        push.notification.pushType = type
        return push
    }

    /// A pool whose sandbox has the binary protocol on a port.
    private func pool(_ port: Int) throws -> SenderPool {
        let endpoint = PushServiceEndpoint(
            host: "localhost",
            port: port,
            additionalTrustRoots: try SelfSignedCertificate.shared.get().pem
        )
        .patient
        return try SenderPool(legacy: [.sandbox: LegacyService(binary: endpoint)], logger: silentLogger)
    }

    private func credential() throws -> PushCredential {
        let certificate = try PushCertificate()
        return .certificate(try ClientCertificate(pem: certificate.pem, key: certificate.key))
    }

    @Test func whatTheProtocolCarriesIsSentAndTheRestRejected() async throws {
        let tls = try SelfSignedCertificate.shared.get().server
        try await LegacyPeer.with([], tls: tls) { peer, port in
            let pool = try self.pool(port)
            let credential = try self.credential().over(.binary)
            let sender = try pool.sender(for: credential, app: 1, environment: .sandbox, lane: .bulk)
            let pushes = [
                Self.push(), Self.push(.liveactivity), Self.push(.background), Self.push(topic: "com.example.Other"),
            ]
            let outcomes = await sender.send(pushes)
            #expect(outcomes[0] == .accepted(.init(id: pushes[0].notification.id)))
            #expect(outcomes[2] == .accepted(.init(id: pushes[2].notification.id)))
            guard case .rejected(let type) = outcomes[1], case .rejected(let topic) = outcomes[3] else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(type.advice == .fixNotification && type.reasonText.contains("liveactivity"))
            #expect(topic.reason == .topicDisallowed)
            #expect(peer.acceptedCount == 2)
            await pool.close()
        }
    }

    /// The positions of a call count, not those among the pushes that the protocol carries.
    @Test func aPushIsTakenBackAtItsPosition() async throws {
        let tls = try SelfSignedCertificate.shared.get().server
        try await LegacyPeer.with([], tls: tls) { peer, port in
            let pool = try self.pool(port)
            let credential = try self.credential().over(.binary)
            let sender = try pool.sender(for: credential, app: 1, environment: .sandbox, lane: .bulk)
            let pushes = [Self.push(.liveactivity), Self.push(), Self.push()]
            let sent = await sender.follow(pushes) { call in
                let underWay = call.takeBack { $0 == 1 }
                #expect(underWay == 0)
            }
            #expect(sent.outcomes[1] == .notSent(.takenBack))
            #expect(sent.outcomes[2] == .accepted(.init(id: pushes[2].notification.id)))
            #expect(peer.acceptedCount == 1)
            await pool.close()
        }
    }

    @Test func aTransportHasItsOwnSenderAndAddress() throws {
        let pool = try self.pool(2195)
        let (http2, binary) = (try self.credential(), try self.credential().over(.binary))
        #expect(http2.over(.binary).identity != http2.identity)
        #expect(pool.endpoint(of: .sandbox, for: binary).port == 2195)
        #expect(pool.endpoint(of: .sandbox, for: http2).port == 443)
        #expect(try pool.sender(for: http2, app: 1, environment: .sandbox, lane: .bulk) is Sender)
        #expect(throws: LegacyServiceMissing.self) {
            try pool.sender(for: binary, app: 1, environment: .production, lane: .bulk)
        }
    }

    @Test func aConnectionThatCannotBeOpenedIsAFault() async throws {
        let refusing = try RefusingPort()
        let pool = try self.pool(refusing.number)
        let sender = try pool.testSender(for: self.credential().over(.binary), app: 1, environment: .sandbox)
        let outcome = await sender.send([Self.push()]).first
        guard case .notSent(let failure) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(failure.fault == ConnectionFault(.refused, host: "localhost", port: refusing.number))
        withExtendedLifetime(refusing) {}
    }
}
