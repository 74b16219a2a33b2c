import Foundation
import PushGateway
import PushSender
import PushTesting
import PushTypes
import Testing

/// Tests the library as docs/sender.md shows it, against the gateway.
@Suite(.timeLimit(.patience)) struct SenderLibraryTests {
    @Test func aPushBySwiftReachesTheGateway() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/AuthKey_\(Vectors.keyID).p8"
            try Vectors.privateKey.write(toFile: file, atomically: true, encoding: .utf8)
            try await withGateway(in: "\(directory)/gateway") { gateway in
                try await gateway.registerVectors()
                let service = PushServiceEndpoint(
                    host: "localhost",
                    port: gateway.addresses.main.http2,
                    additionalTrustRoots: gateway.gateway.authorityPEM
                )
                let credential = try PushCredential.load(file: file, teamID: Vectors.teamID)
                let sender = try Sender(
                    to: service.patient,
                    credential: credential,
                    configuration: .patient,
                    logger: silentLogger
                )

                let topic = try #require(Topic(Vectors.bundleID))
                let notification = PushNotification(topic: topic, payload: Vectors.payload)
                let token = try #require(DeviceToken(hex: Vectors.tokenA))
                guard case .rejected(let rejection) = await sender.send(Push(notification, to: token)) else {
                    Issue.record("the gateway never made this token")
                    return
                }
                #expect(rejection.reason == .badDeviceToken)
                #expect(rejection.advice == .suspectToken)

                let watch = CredentialWatch(
                    CredentialFile(path: file, teamID: Vectors.teamID),
                    logger: silentLogger
                ) { try? sender.use($0) }
                #expect(await watch.check())
                let pushes = Array(repeating: Push(notification, to: token), count: 50)
                var reasons: [Reason?] = []
                for await result in sender.results(of: pushes) {
                    if case .rejected(let rejection) = result.outcome { reasons.append(rejection.reason) }
                }
                #expect(reasons == Array(repeating: .badDeviceToken, count: 50))
                await sender.close()
            }
        }
    }
}
