import Foundation
import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// Invalid provider tokens cost one check each, and a connection with too many of them ends.
@Suite struct RejectedTokenCacheTests {
    private let directory: TestDirectory
    private let rejected = RejectedTokenCache()
    private let budget = SignatureCheckLimiter()
    private static let forged = "bearer \(Vectors.providerTokenForged)"

    init() throws {
        self.directory = try TestDirectory()
    }

    private func connection(_ source: String = "192.0.2.1") throws -> ConnectionAuthentication {
        ConnectionAuthentication(
            environment: .sandbox,
            rejected: self.rejected,
            source: SignatureCheckLimiter.Source(try SocketAddress(ipAddress: source, port: 1)),
            sources: self.budget
        )
    }

    private func reason(_ header: String, _ connection: inout ConnectionAuthentication, at seconds: Int = 0) -> Reason?
    {
        connection.authenticate(
            header,
            directory: self.directory,
            rules: .lenient,
            now: Vectors.issuedAt.advanced(by: .seconds(seconds))
        )
    }

    // MARK: The cache

    @Test func aBadTokenIsCheckedOnceOnAllConnections() throws {
        let before = self.directory.queries
        for _ in 0..<3 {
            var connection = try self.connection()
            for _ in 0..<100 { #expect(self.reason(Self.forged, &connection) == .invalidProviderToken) }
            #expect(!connection.mustEnd)
        }
        #expect(self.directory.queries == before + 1)
    }

    @Test func aKeyThatIsRegisteredLaterMakesItsTokensGood() throws {
        let key = TestKey("LATERKEY00")
        let token = try key.authorization()
        var connection = try self.connection()
        #expect(self.reason(token, &connection) == .invalidProviderToken)
        #expect(self.reason(token, &connection) == .invalidProviderToken)
        self.directory.add(key)
        #expect(self.reason(token, &connection) == nil)
    }

    @Test func aTokenThatIsNotGoodYetBecomesGood() throws {
        let token = try TestKey().authorization()
        var connection = try self.connection()
        #expect(self.reason(token, &connection, at: -3601) == .invalidProviderToken)
        #expect(self.reason(token, &connection, at: -3601) == .invalidProviderToken)
        #expect(self.reason(token, &connection, at: 0) == nil)
    }

    @Test func anExpiredTokenStaysExpiredUnlessTheClockIsSetRight() throws {
        let token = try TestKey().authorization()
        var connection = try self.connection()
        let before = self.directory.queries
        for _ in 0..<10 { #expect(self.reason(token, &connection, at: 3601) == .expiredProviderToken) }
        #expect(self.directory.queries == before + 1)
        #expect(self.reason(token, &connection, at: 3600) == nil)
    }

    @Test func theOldestIsForgotten() {
        let rejected = RejectedTokenCache(capacity: 3)
        for number in 0..<5 { rejected.remember("bearer \(number)", .invalid, changes: 1) }
        #expect(rejected.count == 3)
        #expect(
            (0..<5).map { rejected.outcome(of: "bearer \($0)", changes: 1) != nil } == [false, false, true, true, true]
        )
        #expect(rejected.outcome(of: "bearer 4", changes: 2) == nil)
        rejected.remember("bearer 9", .invalid, changes: 2)
        #expect(rejected.count == 1)
    }

    // MARK: The limit of checks

    @Test func aConnectionThatBringsEverNewBadTokensEnds() throws {
        var connection = try self.connection()
        for number in 0..<100 {
            #expect(self.reason("bearer a.\(number).c", &connection) == .invalidProviderToken)
            #expect(!connection.mustEnd)
        }
        #expect(self.reason("bearer a.b.c", &connection) == .invalidProviderToken)
        #expect(connection.mustEnd)
    }

    @Test func timeFillsTheBudgetAndAClockSetBackDoesNot() throws {
        var connection = try self.connection()
        for number in 0..<300 {
            #expect(self.reason("bearer a.\(number).c", &connection, at: number) == .invalidProviderToken)
        }
        #expect(!connection.mustEnd)
        for number in 300..<401 { _ = self.reason("bearer a.\(number).c", &connection, at: -7200) }
        #expect(connection.mustEnd)
    }

    @Test func aSourceWithManyConnectionsIsBoundedAndOthersAreNot() throws {
        var checks = 0
        for number in 0..<50 {
            var connection = try self.connection()
            for token in 0..<100 where !connection.mustEnd {
                #expect(self.reason("bearer \(number).\(token).c", &connection) == .invalidProviderToken)
                checks += 1
            }
        }
        // Each further connection costs one check.
        #expect(checks <= 1000 + 50)
        var honest = try self.connection()
        #expect(self.reason("bearer \(Vectors.providerToken)", &honest) == nil)
        #expect(!honest.mustEnd)
        var other = try self.connection("192.0.2.2")
        #expect(self.reason("bearer x.y.z", &other) == .invalidProviderToken)
        #expect(!other.mustEnd)
    }

    @Test func theSessionRespondsToTheLastOneAndReadsNoMore() async throws {
        try await withSession { test in
            var session = test.session
            var reasons: [Reason] = []
            var instructions: [ProviderSession.Instruction?] = []
            for number in 0..<101 {
                let request = TestRequest.push(["authorization": "bearer a.\(number).c"])
                let result = session.receive(request, now: Vectors.issuedAt)
                if case .reject(let rejection, _) = result.decision { reasons.append(rejection.reason) }
                instructions.append(result.instruction)
            }
            #expect(reasons == Array(repeating: .invalidProviderToken, count: 101))
            #expect(instructions == Array(repeating: nil, count: 100) + [.endWithoutProcessing])
        }
    }
}
