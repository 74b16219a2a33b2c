import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The repeat windows of all old providers.
@Suite struct DeduplicationRegistryTests {
    private static let key = DeduplicationWindow.Key(token: [1], payload: Data("{}".utf8), expiration: nil)

    private static func client(of app: Int64) throws -> BinaryClient {
        BinaryClient(
            bridge: Vectors.bundleID,
            app: app,
            topic: try #require(Topic(Vectors.bundleID)),
            environment: .sandbox,
            certificateTopic: nil,
            fingerprint: "a",
            dropsRepeats: true
        )
    }

    /// The bridge was another app's when its provider's connection broke, or when the process ended.
    @Test(arguments: [true, false]) func anotherAppsPushesAreNoRepeats(isAfterAStart: Bool) throws {
        let windows = DeduplicationRegistry(time: ManualTime())
        let (before, now) = (try Self.client(of: 1), try Self.client(of: 2))
        if isAfterAStart {
            windows.expect([Self.key], over: before.bridge, of: before.app)
        } else {
            let connection = UUID()
            windows.stored(Self.key, from: before, on: connection)
            windows.connectionEnded(connection, of: before, isBroken: true)
        }
        #expect(!windows.takeRepeat(Self.key, from: now))
        #expect(windows.takeRepeat(Self.key, from: before))
    }
}
