import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// Authentication and topics on one connection (APNs reference 2.1, 2.2).
@Suite struct ConnectionAuthenticationTests {
    let directory: TestDirectory
    let vectors: String

    init() throws {
        self.directory = try TestDirectory()
        self.vectors = "bearer \(Vectors.providerToken)"
    }

    // MARK: Tokens

    @Test func aConnectionBelongsToTheTeamOfItsFirstGoodToken() throws {
        let other = TestKey("OTHERKEY00", team: "OTHERTEAM1")
        self.directory.add(other)
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason("bearer \(Vectors.providerTokenForged)", &connection) == .invalidProviderToken)
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.reason(try other.authorization(), &connection) == .invalidProviderToken)
        #expect(self.reason(self.vectors, &connection) == nil)
    }

    @Test(arguments: [(3600, nil), (3601, Reason.expiredProviderToken), (-3601, .invalidProviderToken)])
    func aTokenSeenBeforeAgesToo(seconds: Int, reason: Reason?) {
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.reason(self.vectors, &connection, after: seconds) == reason)
    }

    @Test func theSchemeWordMayBeWrittenInAnyCase() {
        for word in ["bearer", "Bearer", "BEARER"] {
            var connection = ConnectionAuthentication(environment: .sandbox)
            #expect(self.reason("\(word) \(Vectors.providerToken)", &connection) == nil)
        }
    }

    @Test func aTokenSeenBeforeAsksNothingOfTheDirectory() {
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.topic(Vectors.bundleID, &connection) == .success(Vectors.bundleID))
        let questions = self.directory.queries
        for _ in 0..<3 {
            #expect(self.reason(self.vectors, &connection) == nil)
            #expect(self.topic(Vectors.bundleID, &connection) == .success(Vectors.bundleID))
        }
        #expect(self.directory.queries == questions)
    }

    @Test func aKeyThatIsRevokedIsInvalidAtOnce() {
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        self.directory.change { $0.keys[Vectors.keyID] = nil }
        #expect(self.reason(self.vectors, &connection) == .invalidProviderToken)
    }

    @Test func anAppThatIsTakenAwayIsDisallowedAtOnce() {
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.topic(Vectors.bundleID, &connection) == .success(Vectors.bundleID))
        self.directory.change { $0.apps[Vectors.bundleID] = nil }
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.topic(Vectors.bundleID, &connection) == .failure(.topicDisallowed))
        self.directory.change { $0.add(app: Vectors.bundleID) }
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.topic(Vectors.bundleID, &connection) == .success(Vectors.bundleID))
    }

    // MARK: Changes of the token

    @Test func theStrictRejectASecondChangeWithinTwentyMinutes() throws {
        let key = try TestKey()
        let tokens = try (0..<4).map { try key.authorization(issuedAt: Vectors.issuedAt.advanced(by: .seconds($0))) }
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(tokens[0], &connection, .strict) == nil)
        #expect(self.reason(tokens[1], &connection, .strict, after: 60) == nil, "the first token was no change")
        #expect(self.reason(tokens[2], &connection, .strict, after: 1259) == .tooManyProviderTokenUpdates)
        #expect(self.reason(tokens[1], &connection, .strict, after: 1259) == nil, "the previous one stays good")
        #expect(self.reason(tokens[0], &connection, .strict, after: 1259) == nil)
        #expect(self.reason(tokens[2], &connection, .strict, after: 1260) == nil)
        #expect(self.reason(tokens[3], &connection, .strict, after: 1261) == .tooManyProviderTokenUpdates)
        #expect(self.reason(tokens[3], &connection, .lenient, after: 1261) == nil)
    }

    @Test func aNewTokenForEveryMessageIsToleratedByTheLenient() throws {
        let key = try TestKey()
        var connection = ConnectionAuthentication(environment: .sandbox)
        for second in 0..<10 {
            let token = try key.authorization(issuedAt: Vectors.issuedAt.advanced(by: .seconds(second)))
            #expect(self.reason(token, &connection) == nil)
        }
    }

    // MARK: Kinds of keys

    @Test func aKeyOfOneEnvironmentIsOfNoUseInTheOther() throws {
        let key = TestKey("SANDBOXKEY", scope: .environment(.sandbox))
        self.directory.add(key)
        var sandbox = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(try key.authorization(), &sandbox) == nil)
        var production = ConnectionAuthentication(environment: .production)
        #expect(self.reason(try key.authorization(), &production) == .badEnvironmentKeyInToken)
        var rules = ProviderRules.lenient
        rules.wrongEnvironmentKey = .badEnvironmentKeyIdInToken
        #expect(self.reason(try key.authorization(), &production, rules) == .badEnvironmentKeyIdInToken)
    }

    @Test func aTopicKeyPushesToItsTopicsAndTheirSuffixes() throws {
        let key = TestKey("TOPICKEY00", scope: try Self.topics(["com.example.MyApp"]))
        self.directory.add(key)
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(try key.authorization(), &connection) == nil)
        #expect(self.topic("com.example.MyApp", &connection) == .success("com.example.MyApp"))
        #expect(self.topic("com.example.MyApp.voip", &connection) == .success("com.example.MyApp.voip"))
        #expect(self.topic("com.example.Other", &connection) == .failure(.topicDisallowed))
    }

    @Test func aTopicKeyMeetsOnlyItsRelatedKeyOnAConnection() throws {
        let first = TestKey("TOPICKEY01", scope: try Self.topics(["com.example.MyApp"], related: "TOPICKEY02"))
        let second = TestKey("TOPICKEY02", scope: try Self.topics(["com.example.Other"]))
        let third = TestKey("TOPICKEY03", scope: try Self.topics(["com.example.MyApp"]))
        for key in [first, second, third] { self.directory.add(key) }
        for (opener, related) in [(first, second), (second, first)] {
            var connection = ConnectionAuthentication(environment: .sandbox)
            #expect(self.reason(try opener.authorization(), &connection) == nil)
            #expect(self.reason(try related.authorization(), &connection) == nil)
            #expect(self.reason(try third.authorization(), &connection) == .unrelatedKeyIdInToken)
            #expect(self.reason(self.vectors, &connection) == .unrelatedKeyIdInToken)
        }
    }

    @Test func eachKeyOfAConnectionHasItsOwnTopics() throws {
        let first = TestKey("TOPICKEY01", scope: try Self.topics(["com.example.MyApp"], related: "TOPICKEY02"))
        let second = TestKey("TOPICKEY02", scope: try Self.topics(["com.example.Other"]))
        for key in [first, second] { self.directory.add(key) }
        let (one, two) = (try first.authorization(), try second.authorization())
        var connection = ConnectionAuthentication(environment: .sandbox)
        for _ in 0..<2 {
            #expect(self.reason(one, &connection) == nil)
            #expect(self.topic("com.example.MyApp", &connection) == .success("com.example.MyApp"))
            #expect(self.topic("com.example.Other", &connection) == .failure(.topicDisallowed))
            #expect(self.reason(two, &connection) == nil)
            #expect(self.topic("com.example.Other", &connection) == .success("com.example.Other"))
            #expect(self.topic("com.example.MyApp", &connection) == .failure(.topicDisallowed))
        }
    }

    @Test func aConnectionOfATeamKeyTakesNoTopicKey() throws {
        let topic = TestKey("TOPICKEY00", scope: try Self.topics(["com.example.MyApp"]))
        let scoped = TestKey("SANDBOXKEY", scope: .environment(.sandbox))
        for key in [topic, scoped] { self.directory.add(key) }
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        #expect(self.reason(try topic.authorization(), &connection) == .unrelatedKeyIdInToken)
        #expect(self.reason(try scoped.authorization(), &connection) == nil)
    }

    // MARK: Certificates

    @Test func aCertificateIsLookedAtAgainAfterEveryChangeAndWithEveryRequest() throws {
        var identity = try PushRequestValidatorTests.certificate([Vectors.bundleID])
        identity.expiresAt = Vectors.issuedAt.advanced(by: .seconds(10))
        var connection = ConnectionAuthentication(environment: .sandbox, certificate: identity)
        #expect(self.reason(nil, &connection) == nil)
        #expect(self.reason(nil, &connection, after: 11) == .badCertificate)
        #expect(self.reason(nil, &connection, after: 10) == nil)
        self.directory.change { $0.revoked = ["01"] }
        #expect(self.reason(nil, &connection) == .badCertificate)
    }

    // MARK: Many topics

    @Test func moreTopicsThanAreRememberedAreFoundOutAgain() {
        self.directory.change { content in
            for number in 0..<(3 * TopicGrantCache.capacity) { content.add(app: "com.example.app\(number)") }
        }
        var connection = ConnectionAuthentication(environment: .sandbox)
        #expect(self.reason(self.vectors, &connection) == nil)
        for _ in 0..<2 {
            for number in 0..<(3 * TopicGrantCache.capacity) {
                let name = "com.example.app\(number)"
                #expect(self.topic(name, &connection) == .success(name))
            }
        }
    }

    // MARK: Queries

    private func reason(
        _ authorization: String?,
        _ connection: inout ConnectionAuthentication,
        _ rules: ProviderRules = .lenient,
        after seconds: Int = 0
    ) -> Reason? {
        connection.authenticate(
            authorization,
            directory: self.directory,
            rules: rules,
            now: Vectors.issuedAt.advanced(by: .seconds(seconds))
        )
    }

    private func topic(_ name: String, _ connection: inout ConnectionAuthentication) -> Result<String, Reason> {
        connection.grant(name, directory: self.directory).map(\.topic.name)
    }

    private static func topics(_ names: [String], related: String? = nil) throws -> RegisteredKey.Scope {
        .topics(.init(topics: Set(names.compactMap { Topic($0) }), environment: .sandbox, relatedKeyID: related))
    }
}
