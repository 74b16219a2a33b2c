import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Sessions from their beginning to their end.
@Suite(.timeLimit(.patience)) struct SignInServiceTests {
    @Test func aPersonSignsInWithTheRightsOfTheRole() async throws {
        try await withSignIns { fixture in
            for role in PersonRole.allCases {
                let person = try await fixture.add("\(role)", role)
                let grant = try await fixture.signIn("\(role)".uppercased())
                #expect(grant.token.utf8.count == 43)
                let session = try #require(try await fixture.service.session(token: grant.token))
                #expect(session == grant.session)
                #expect(session.caller.id == person.id && session.caller.isPerson)
                #expect(session.caller.name == "\(role)" && session.role == role)
                #expect(session.caller.session == session.id)
                let allowed = APIScope.allCases.filter { session.caller.allows($0) }
                switch role {
                case .viewer: #expect(Set(allowed) == [.read, .metrics])
                case .author: #expect(Set(allowed) == [.read, .metrics, .send])
                case .operator: #expect(Set(allowed) == [.read, .metrics, .send, .register, .operate])
                case .admin: #expect(Set(allowed) == Set(APIScope.allCases))
                }
            }
        }
    }

    @Test func aSessionEndsAfterTwelveHoursWithoutARequest() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let token = try await fixture.signIn("anna").token
            for _ in 0..<3 {
                fixture.time.advance(by: .hours(12) - .milliseconds(1))
                #expect(try await fixture.service.session(token: token) != nil)
            }
            fixture.time.advance(by: .hours(12))
            #expect(try await fixture.service.session(token: token) == nil)
        }
    }

    @Test func aTabThatIsLeftOpenDoesNotKeepItsSession() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let token = try await fixture.signIn("anna").token
            for _ in 0..<11 {
                fixture.time.advance(by: .hours(1))
                #expect(try await fixture.service.session(token: token, isUse: false) != nil)
            }
            fixture.time.advance(by: .hours(1))
            #expect(try await fixture.service.session(token: token, isUse: false) == nil)
        }
    }

    @Test func aSessionEndsAfterSevenDaysHoweverMuchItIsUsed() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let token = try await fixture.signIn("anna").token
            for hour in 1..<168 {
                fixture.time.advance(by: .hours(1))
                #expect(try await fixture.service.session(token: token) != nil, "\(hour)")
            }
            fixture.time.advance(by: .hours(1))
            #expect(try await fixture.service.session(token: token) == nil)
        }
    }

    /// A wall clock that is set back makes no session longer.
    @Test func theSteadyClockDecides() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let token = try await fixture.signIn("anna").token
            fixture.time.step(by: .hours(-1000))
            #expect(try await fixture.service.session(token: token) != nil)
            fixture.time.advance(by: .hours(12))
            #expect(try await fixture.service.session(token: token) == nil)
        }
    }

    /// The disk is written once a minute at most.
    @Test func theLastUseIsAMinuteLate() async throws {
        try await withSignIns { fixture in
            let person = try await fixture.add("anna")
            let grant = try await fixture.signIn("anna")
            let start = fixture.time.steady
            func lastUse() async throws -> Timestamp? {
                let sessions = try await fixture.store.sessions(of: .person(person.id))
                return sessions.first { $0.id == grant.session.id }?.lastUsedAt
            }
            fixture.time.advance(by: .seconds(59))
            _ = try await fixture.service.session(token: grant.token)
            #expect(try await lastUse() == start)
            fixture.time.advance(by: .seconds(1))
            _ = try await fixture.service.session(token: grant.token)
            #expect(try await lastUse() == fixture.time.steady)
        }
    }

    @Test func signingOutEndsOneSessionAndEverywhereAll() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let (one, two) = (try await fixture.signIn("anna"), try await fixture.signIn("anna"))
            #expect(one.token != two.token && one.session.csrfToken != two.session.csrfToken)
            try await fixture.service.signOut(one.session)
            #expect(try await fixture.service.session(token: one.token) == nil)
            #expect(try await fixture.service.session(token: two.token) != nil)
            let three = try await fixture.signIn("anna")
            try await fixture.store.endSessions(of: three.session.holder)
            #expect(try await fixture.service.session(token: two.token) == nil)
            #expect(try await fixture.service.session(token: three.token) == nil)
        }
    }

    @Test func aKeySignsInWithItsScopesUntilItEnds() async throws {
        try await withSignIns { fixture in
            let service = fixture.service
            let end = fixture.time.now.advanced(by: .seconds(100))
            let (key, text) = try await fixture.keys.issue(name: "ci", scopes: [.read]) { $0.expiresAt = end }
            let (wrong, client) = (Budget(.wrongSecrets), BudgetCaller(.network([192, 0, 2, 1])))
            func signIn(_ key: String) async throws -> SessionGrant {
                try await service.signIn(key: key, wrong: wrong, of: client, address: "192.0.2.1", agent: "a")
            }
            let grant = try await signIn(text)
            let session = try #require(try await service.session(token: grant.token))
            #expect(session.role == nil && !session.caller.isPerson && session.caller.id == key.id)
            _ = try await fixture.store.changeKey(key.id) { $0.scopes = [.send] }
            #expect(try await service.session(token: grant.token)?.caller.scopes == ["send"])
            fixture.time.advance(by: .seconds(100))
            #expect(try await service.session(token: grant.token) == nil)
            let own = try #require(Topic(Vectors.bundleID))
            let (_, open) = try await fixture.keys.issue(name: "app", scopes: [.registerSelf]) { $0.apps = [own] }
            for bad in [open, "", "mk_", "mk_wrong", text] {
                await #expect(throws: RequestError.self) { try await signIn(bad) }
            }
        }
    }

    @Test func signInsAreInTheAudit() async throws {
        try await withSignIns { fixture in
            let person = try await fixture.add("anna")
            _ = try await fixture.signIn("anna")
            let entries = fixture.audit.entries
            #expect(entries.map(\.action) == ["redeem a link", "sign in with a password"])
            #expect(entries.allSatisfy { $0.caller.isPerson && $0.caller.id == person.id && $0.caller.name == "anna" })
        }
    }

    @Test func anAgentIsCutAndPrintable() async throws {
        try await withSignIns { fixture in
            let person = try await fixture.add("anna")
            let agent = "Mozilla\r\nX: y\u{1b}[31m é" + String(repeating: "x", count: 10_000)
            _ = try await fixture.service.signIn(
                name: "anna",
                password: SignInFixture.password,
                address: "not an address",
                agent: agent
            )
            let stored = try #require(try await fixture.store.sessions(of: .person(person.id)).first?.agent)
            #expect(stored.hasPrefix("MozillaX: y[31m "))
            #expect(stored.utf8.count <= SessionRecord.maximumAgent)
        }
    }
}
