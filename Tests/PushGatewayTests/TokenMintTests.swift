import Foundation
import PushProtocol
import PushTesting
import Testing

@testable import PushGateway

@Suite struct TokenMintTests {
    let mint = TokenMint(key: [UInt8](repeating: 7, count: 32))

    @Test func aTokenOpensToWhatItStandsFor() throws {
        let claims = try Self.claims()
        let token = try #require(try self.mint.deviceToken(claims))
        #expect(self.mint.open(token) == claims)
    }

    @Test func askingTwiceGivesTheSameToken() throws {
        let claims = try Self.claims()
        #expect(try self.mint.deviceToken(claims) == self.mint.deviceToken(claims))
    }

    @Test func everyPartMakesAnotherToken() throws {
        let claims = try Self.claims()
        var others = [claims, claims, claims, claims]
        others[0].device = UUID()
        others[1].environment = .production
        others[2].generation += 1
        others[3].topic = TopicHash(try #require(Topic("com.example.Other")))
        let tokens = try Set((others + [claims]).map { try self.mint.deviceToken($0) })
        #expect(tokens.count == 5)
    }

    @Test func lengthsVaryAndFitTheBinaryInterface() throws {
        let lengths = try Set((0..<200).map { _ in try self.mint.deviceToken(try Self.claims())?.bytes.count ?? 0 })
        #expect(lengths.count > 5)
        #expect(lengths.allSatisfy { (71...86).contains($0) })
    }

    @Test func anotherKeysTokenDoesNotOpen() throws {
        let other = TokenMint(key: [UInt8](repeating: 8, count: 32))
        #expect(try self.mint.open(#require(try other.deviceToken(try Self.claims()))) == nil)
    }

    @Test func aBaseTokenIsNoDeviceTokenNorTheOtherWayRound() throws {
        let device = UUID()
        let base = try self.mint.baseToken(for: device)
        #expect(self.mint.openBase(base) == device)
        #expect(base.count != TopicHash.length)
        #expect(try self.mint.open(#require(DeviceToken(bytes: base))) == nil)
        #expect(try self.mint.openBase(#require(try self.mint.deviceToken(try Self.claims())).bytes) == nil)
    }

    @Test func garbageAndEveryChangedByteAreRefused() throws {
        let token = try #require(try self.mint.deviceToken(try Self.claims())).bytes
        for index in token.indices {
            var changed = token
            changed[index] ^= 1
            #expect(try self.mint.open(#require(DeviceToken(bytes: changed))) == nil)
        }
        for length in 1...120 {
            #expect(try self.mint.open(#require(DeviceToken(bytes: [UInt8](repeating: 1, count: length)))) == nil)
        }
    }

    static func claims() throws -> TokenMint.Claims {
        let topic = TopicHash(try #require(Topic(Vectors.bundleID)))
        return .init(device: UUID(), topic: topic, environment: .sandbox, generation: 1)
    }
}
