import Foundation
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct TokenMinterTests {
    let mint = TokenMinter(keys: [[UInt8](repeating: 7, count: 32)])

    @Test func aTokenOpensToWhatItStandsFor() throws {
        let claims = try Self.claims()
        let token = try #require(try self.mint.deviceToken(claims, keyID: 1))
        #expect(self.mint.open(token) == claims)
    }

    @Test func askingTwiceGivesTheSameToken() throws {
        let claims = try Self.claims()
        #expect(try self.mint.deviceToken(claims, keyID: 1) == self.mint.deviceToken(claims, keyID: 1))
    }

    @Test func everyPartMakesAnotherToken() throws {
        let claims = try Self.claims()
        var others = [claims, claims, claims, claims]
        others[0].device = UUID()
        others[1].environment = .production
        others[2].generation += 1
        others[3].topic = TopicHash(try #require(Topic("com.example.Other")))
        let tokens = try Set((others + [claims]).map { try self.mint.deviceToken($0, keyID: 1) })
        #expect(tokens.count == 5)
    }

    @Test func lengthsVaryAndFitTheBinaryInterface() throws {
        let lengths = try Set(
            (0..<200).map { _ in try self.mint.deviceToken(try Self.claims(), keyID: 1)?.bytes.count ?? 0 }
        )
        #expect(lengths.count > 5)
        #expect(lengths.allSatisfy { (71...86).contains($0) })
    }

    @Test func anotherKeysTokenDoesNotOpen() throws {
        let other = TokenMinter(keys: [[UInt8](repeating: 8, count: 32)])
        #expect(try self.mint.open(#require(try other.deviceToken(try Self.claims(), keyID: 1))) == nil)
    }

    @Test func aBaseTokenIsNoDeviceTokenNorTheOtherWayRound() throws {
        let device = UUID()
        let base = try #require(try self.mint.baseToken(for: device, epoch: 1))
        #expect(try self.mint.baseToken(for: device, epoch: 1) == base)
        #expect(try self.mint.baseToken(for: device, epoch: 2) != base)
        #expect(base.count != TopicHash.length)
        #expect(try self.mint.open(#require(DeviceToken(bytes: base))) == nil)
    }

    @Test func afterARotationTheNewKeySealsAndTheOldOneStillOpens() throws {
        let claims = try Self.claims()
        let old = try #require(try self.mint.deviceToken(claims, keyID: 1))
        #expect(self.mint.rotate(to: [UInt8](repeating: 9, count: 32)))
        #expect(self.mint.currentKeyID == 2)
        let new = try #require(try self.mint.deviceToken(claims, keyID: 2))
        #expect(new != old)
        #expect(try self.mint.deviceToken(claims, keyID: 1) == old)
        #expect(self.mint.open(old) == claims)
        #expect(self.mint.open(new) == claims)
    }

    @Test func garbageAndEveryChangedByteAreRejected() throws {
        let token = try #require(try self.mint.deviceToken(try Self.claims(), keyID: 1)).bytes
        for index in token.indices {
            var changed = token
            changed[index] ^= 1
            #expect(try self.mint.open(#require(DeviceToken(bytes: changed))) == nil)
        }
        for length in 1...120 {
            #expect(try self.mint.open(#require(DeviceToken(bytes: [UInt8](repeating: 1, count: length)))) == nil)
        }
    }

    static func claims() throws -> TokenMinter.Claims {
        let topic = TopicHash(try #require(Topic(Vectors.bundleID)))
        return .init(device: UUID(), topic: topic, environment: .sandbox, generation: 1)
    }
}
