import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import Testing

@testable import PushProvider

/// Attacks on signing in.
@Suite(.timeLimit(.patience)) struct SignInAttackTests {
    /// Sign-ins from fresh networks, of IPv4 or of one site of IPv6, leave the place of those who have been here before.
    @Test(arguments: [(40, false), (1000, true)])
    func strangersKeepNobodyOutWhoIsKnown(networks: Int, areOfOneSite: Bool) async throws {
        try await withSignIns { fixture in
            try await fixture.add("alice")
            // No stranger's hash ends.
            let place = try fixture.strangers.take(for: BudgetCaller(.name("held")))
            try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<networks {
                    let address =
                        areOfOneSite ? "2001:db9:7:\(String(number, radix: 16))::1" : "198.51.100.\(number)"
                    group.addTask { try await fixture.failure("alice", from: address)?.code }
                }
                // Few of them wait, of one site fewer, and the others are refused.
                let waiting = areOfOneSite ? 2 : 14
                for _ in 0..<(networks - waiting) { #expect(try await group.next() == "busy") }
                #expect(fixture.strangers.usage.waiting == waiting)
                _ = try await fixture.signIn("alice")
                place.end()
                for try await code in group { #expect(code == "wrong_credentials" || code == "too_many_sign_ins") }
            }
            _ = try await fixture.signIn("alice")
        }
    }

    /// Whatever is wrong, as many hashes are computed: the time tells nothing about a name.
    @Test func everyFailureTakesTheSameWork() async throws {
        try await withSignIns { fixture in
            try await fixture.add("alice")
            let bert = try await fixture.add("bert")
            _ = try await fixture.store.changePerson(bert.id) { $0.isDisabled = true }
            // She has not chosen a password yet.
            _ = try await fixture.people.add(PersonRecord(name: "carol", role: .author, createdAt: fixture.time.now))
            let attempts = [
                ("nobody", "a wrong password"), ("alice", "a wrong password"), ("bert", "a wrong password"),
                ("bert", SignInFixture.password), ("carol", "a wrong password"),
            ]
            for (number, (name, password)) in attempts.enumerated() {
                let before = fixture.hasher.completedHashes
                let error = try await fixture.failure(name, password, from: "198.51.100.\(number)")
                #expect(error == SignInService.wrong)
                #expect(fixture.hasher.completedHashes == before + 1, "\(name)")
            }
            // From the network from which she has signed in it is no other work.
            for name in ["nobody", "alice"] {
                let before = fixture.hasher.completedHashes
                #expect(try await fixture.failure(name, from: "192.0.2.1") == SignInService.wrong)
                #expect(fixture.hasher.completedHashes == before + 1, "\(name)")
            }
            // A name is locked whether anybody has it or not, and nothing is computed then.
            for name in ["nobody", "alice", "bert", "carol"] {
                for number in 0..<10 { _ = try await fixture.failure(name, from: "203.0.113.\(number)") }
                let before = fixture.hasher.completedHashes
                let error = try await fixture.failure(name, from: "203.0.113.99")
                #expect(error?.code == "too_many_sign_ins" && error?.kind == .rateLimited, "\(name)")
                #expect(fixture.hasher.completedHashes == before, "\(name)")
            }
        }
    }

    /// Nothing tells whether a name exists, is disabled or has no password.
    @Test func everyFailureHasTheSameWords() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let bert = try await fixture.add("bert")
            _ = try await fixture.store.changePerson(bert.id) { $0.isDisabled = true }
            let invited = PersonRecord(name: "carl", role: .author, createdAt: fixture.time.now)
            _ = try await fixture.people.add(invited)
            let failures = [
                try await fixture.failure("anna"), try await fixture.failure("nobody"), try await fixture.failure(""),
                try await fixture.failure("bert", SignInFixture.password), try await fixture.failure("anna", ""),
                try await fixture.failure("carl", SignInFixture.password),
                try await fixture.failure(String(repeating: "a", count: 10_000)),
                try await fixture.failure("anna", String(repeating: "a", count: 1_000_000)),
                try await fixture.failure("anna' OR '1'='1"), try await fixture.failure("anna\0"),
                try await fixture.failure("anna\0x", SignInFixture.password),
            ]
            #expect(Set(failures).count == 1)
            #expect(failures.first??.code == "wrong_credentials")
        }
    }

    @Test func aNameIsLockedFromAnyNetworkAndAfterARestart() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            for name in ["anna", "nobody"] {
                for number in 0..<5 {
                    let error = try await fixture.failure(name, from: "203.0.113.\(number)")
                    #expect(error?.code == "wrong_credentials")
                }
                let error = try await fixture.failure(name, SignInFixture.password, from: "198.51.100.1")
                #expect(error?.code == "too_many_sign_ins" && error?.kind == .rateLimited)
            }
            let restarted = fixture.restarted()
            await #expect(throws: RetryLaterError.self) {
                try await restarted.signIn(
                    name: "ANNA",
                    password: SignInFixture.password,
                    address: "198.51.100.2",
                    agent: ""
                )
            }
            fixture.time.advance(by: .seconds(60))
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "198.51.100.3") == nil)
        }
    }

    /// Failures with a person's name elsewhere do not keep the person out.
    @Test func aLockedPersonSignsInFromAKnownNetwork() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            for number in 0..<50 { _ = try await fixture.failure("anna", from: "203.0.113.\(number)") }
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.2") != nil)
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1") == nil)
            // There too there are five attempts.
            for _ in 0..<5 { _ = try await fixture.failure("anna", from: "192.0.2.1") }
            let error = try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1")
            #expect(error?.code == "too_many_sign_ins")
            fixture.time.advance(by: .seconds(60))
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1") == nil)
        }
    }

    @Test func aNetworkThatTriesManyNamesIsLocked() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            for number in 0..<20 {
                // All of a site's networks of IPv6 are one here.
                let address = "2001:db8:1:\(number)::1"
                #expect(try await fixture.failure("name \(number)", from: address)?.code == "wrong_credentials")
            }
            let refused = try await fixture.failure("anna", SignInFixture.password, from: "2001:db8:1:ffff::1")
            #expect(refused?.code == "too_many_sign_ins")
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "2001:db8:2:ffff::1") == nil)
        }
    }

    @Test func manyGuessesAtOnceAreNotMore() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let codes = await withTaskGroup(of: String?.self) { group in
                for number in 0..<40 {
                    group.addTask { try? await fixture.failure("anna", from: "203.0.113.\(number)")?.code }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.count { $0 == "wrong_credentials" } == 5)
            // An attempt that finds no place to be checked is none, and counts for no lock.
            #expect(codes.count { $0 == "too_many_sign_ins" || $0 == "busy" } == 35)
        }
    }

    /// A browser never keeps a token that somebody else may have given it.
    @Test func signingInReplacesTheSessionOfTheBrowser() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            try await fixture.add("eve")
            let planted = try await fixture.signIn("eve")
            let grant = try await fixture.service.signIn(
                name: "anna",
                password: SignInFixture.password,
                address: "192.0.2.1",
                agent: "browser",
                replacing: planted.session
            )
            #expect(grant.token != planted.token)
            #expect(try await fixture.service.session(token: planted.token) == nil)
            for token in ["", "chosen", String(repeating: "A", count: 43), planted.token + "=", grant.token + "\0"] {
                #expect(try await fixture.service.session(token: token) == nil, "no token comes from a browser")
            }
        }
    }

    @Test func aStolenTokenEndsWithTheOldPassword() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let (stolen, own) = (try await fixture.signIn("anna"), try await fixture.signIn("anna"))
            await #expect(throws: RequestError.self) {
                try await fixture.service.changePassword(
                    of: stolen.session.caller,
                    from: "a wrong password",
                    to: "another good password"
                )
            }
            try await fixture.service.changePassword(
                of: own.session.caller,
                from: SignInFixture.password,
                to: "another good password"
            )
            #expect(try await fixture.service.session(token: stolen.token) == nil)
            #expect(try await fixture.service.session(token: own.token) == nil)
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1") != nil)
            #expect(try await fixture.failure("anna", "another good password", from: "192.0.2.1") == nil)
        }
    }

    /// A stolen session does not allow to try passwords without a limit.
    @Test func theCurrentPasswordIsGuessedFiveTimes() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let caller = try await fixture.signIn("anna").session.caller
            for number in 0..<5 {
                await #expect(throws: RequestError.self) {
                    try await fixture.service.changePassword(
                        of: caller,
                        from: "guess \(number)",
                        to: "a new passphrase"
                    )
                }
            }
            await #expect(throws: RetryLaterError.self) {
                try await fixture.service.changePassword(
                    of: caller,
                    from: SignInFixture.password,
                    to: "a new passphrase"
                )
            }
        }
    }

    @Test func aDisabledPersonIsOutAtOnce() async throws {
        try await withSignIns { fixture in
            let person = try await fixture.add("anna")
            let grant = try await fixture.signIn("anna")
            _ = try await fixture.store.changePerson(person.id) { $0.isDisabled = true }
            #expect(try await fixture.service.session(token: grant.token) == nil)
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1") != nil)
            _ = try await fixture.store.changePerson(person.id) { $0.isDisabled = false }
            #expect(try await fixture.service.session(token: grant.token) == nil, "it does not come back")
            #expect(try await fixture.failure("anna", SignInFixture.password, from: "192.0.2.1") == nil)
        }
    }

    @Test func twoWhoRedeemALinkAtOnceAreNotBothLetIn() async throws {
        try await withSignIns { fixture in
            let link = try #require(try await fixture.people.makeLink(for: nil))
            let names = await withTaskGroup(of: String?.self) { group in
                for number in 0..<6 {
                    group.addTask { try? await fixture.redeem(link.text, name: "admin \(number)").session.caller.name }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(names.compactMap { $0 }.count == 1)
            #expect(try await fixture.store.people(after: nil, limit: 10).count == 1)
        }
    }

    @Test func aLinkEndsAfterADayAndTakesNoWeakPassword() async throws {
        try await withSignIns { fixture in
            let link = try #require(try await fixture.people.makeLink(for: nil))
            for (name, password, code) in [
                ("anna", "short", "password_too_short"), ("anna", "password1234", "password_too_common"),
                ("", SignInFixture.password, "invalid_name"), ("a\nb", SignInFixture.password, "invalid_name"),
            ] {
                let error = await #expect(throws: RequestError.self) {
                    try await fixture.redeem(link.text, name: name, password: password)
                }
                #expect(error?.code == code)
            }
            for text in ["", "x", link.text + "x", String(repeating: "A", count: 43)] {
                let error = await #expect(throws: RequestError.self) { try await fixture.redeem(text, name: "anna") }
                #expect(error?.code == "no_such_link")
            }
            fixture.time.advance(by: .hours(24))
            let error = await #expect(throws: RequestError.self) { try await fixture.redeem(link.text, name: "anna") }
            #expect(error?.code == "no_such_link")
        }
    }

    /// A new link is for who has forgotten the password: it ends what anybody else may have begun.
    @Test func redeemingALinkEndsAllEarlierSessions() async throws {
        try await withSignIns { fixture in
            let person = try await fixture.add("anna")
            let old = try await fixture.signIn("anna")
            let link = try #require(try await fixture.people.makeLink(for: person.id))
            #expect(try await fixture.service.session(token: old.token) != nil, "until it is redeemed")
            let new = try await fixture.redeem(link.text, name: "ignored", password: "another good password")
            #expect(new.session.caller.name == "anna")
            #expect(try await fixture.service.session(token: old.token) == nil)
            #expect(try await fixture.service.session(token: new.token) != nil)
        }
    }

    @Test func aFormNeedsTheTextOfItsOwnSession() async throws {
        try await withSignIns { fixture in
            try await fixture.add("anna")
            let (one, two) = (try await fixture.signIn("anna"), try await fixture.signIn("anna"))
            #expect(one.session.accepts(csrfToken: one.session.csrfToken))
            for text in [two.session.csrfToken, "", one.token, String(one.session.csrfToken.dropLast())] {
                #expect(!one.session.accepts(csrfToken: text))
            }
        }
    }
}
