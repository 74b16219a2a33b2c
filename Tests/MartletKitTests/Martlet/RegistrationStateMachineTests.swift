import Foundation
import Testing

@testable import MartletKit

@Suite("The registration's state machine") struct RegistrationStateMachineTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let installation = UUID()
    static let week: TimeInterval = 7 * 24 * 3600
    static let done = ProviderResult.done(["secret": "s1"])
    static let token = Data(repeating: 7, count: 32)

    static func makeMachine(tokens: [TokenKind] = [.alert]) -> RegistrationStateMachine {
        let state = RegistrationState(installation: Self.installation, target: "t", key: "k")
        var machine = RegistrationStateMachine(state, target: "t", key: "k", refreshInterval: Self.week)
        for (index, kind) in tokens.enumerated() {
            _ = machine.register(
                Data(repeating: UInt8(index + 1), count: 32),
                as: kind,
                environment: .production,
                now: Self.now
            )
        }
        return machine
    }

    /// Answers all requests that are due, and returns what they register.
    static func settle(
        _ machine: inout RegistrationStateMachine,
        at now: Date = now,
        _ answer: (RegistrationStateMachine.Registration) -> ProviderResult = { _ in done }
    ) -> [RegistrationStateMachine.Registration] {
        var all: [RegistrationStateMachine.Registration] = []
        while case .send(let request) = machine.next(now: now), all.count < 300 {
            machine.started(request)
            var response = Self.done
            if case .register(let registration) = request {
                all.append(registration)
                response = answer(registration)
            }
            _ = machine.completed(request, response, now: now, random: 1, newInstallation: UUID())
        }
        return all
    }

    @Test("Tokens of all kinds are sent one after the other, the app's own first, later ones with the secret")
    func kinds() {
        let kinds: [TokenKind] = [
            .voip, .alert, .complication, .fileProvider, .location, .pushToTalk, .liveActivityStart,
            .liveActivityUpdate(activity: "order-1"), .liveActivityUpdate(activity: "order-2"), .widgets, .controls,
        ]
        var machine = Self.makeMachine(tokens: kinds)
        let sent = Self.settle(&machine)
        #expect(sent.count == kinds.count && sent.first?.token.kind == "alert")
        #expect(sent.first?.secret == nil && sent.dropFirst().allSatisfy { $0.secret == "s1" })
        #expect(Set(sent.map(\.place)) == Set(kinds.map(\.place)))
        #expect(
            sent.filter { $0.token.kind == "liveActivityUpdate" }.compactMap(\.token.activity) == [
                "order-1", "order-2",
            ]
        )
        #expect(machine.isConfirmed(now: Self.now))
    }

    @Test("A change of what tokens share is sent with one of them")
    func shared() {
        var machine = Self.makeMachine(tokens: [.alert, .voip])
        _ = Self.settle(&machine)
        machine.want("locale", "de")
        machine.want("tags", .array(["a"]))
        let sent = Self.settle(&machine)
        #expect(sent.map(\.place) == ["alert"])
        #expect(sent.first?.shared == ["locale": "de", "tags": .array(["a"])])
        let sent1 = Self.settle(&machine)
        #expect(sent1.isEmpty)
    }

    @Test("What changes while a request is under way is sent next, and the newest state wins")
    func newestWins() {
        var machine = Self.makeMachine()
        machine.want("userProof", "alice")
        guard case .send(let request) = machine.next(now: Self.now) else {
            Issue.record("nothing is sent")
            return
        }
        machine.want("userProof", .null)
        machine.want("locale", "fr")
        _ = machine.register(Data(repeating: 9, count: 32), as: .alert, environment: .production, now: Self.now)
        _ = machine.completed(request, Self.done, now: Self.now, random: 1, newInstallation: UUID())
        let sent = Self.settle(&machine)
        #expect(sent.count == 1)
        #expect(sent.first?.shared["userProof"] == .null && sent.first?.shared["locale"] == "fr")
        #expect(sent.first?.token.text == String(repeating: "09", count: 32))
        #expect(machine.state.wanted["userProof"] == nil)
    }

    @Test("A confirmed registration is sent again after the refresh interval, without tags, attributes and user")
    func refresh() {
        var machine = Self.makeMachine()
        machine.want("tags", .array(["a"]))
        machine.want("attributes.team", "red")
        machine.want("preferences", NotificationPreferences(optOuts: ["news"]).json)
        machine.want("userProof", "jwt")
        machine.want("appVersion", "1.0")
        let sent2 = Self.settle(&machine)
        #expect(sent2.first?.shared.count == 5)
        let sent3 = Self.settle(&machine, at: Self.now + Self.week - 1)
        #expect(sent3.isEmpty)
        let again = Self.settle(&machine, at: Self.now + Self.week)
        #expect(again.map { Set($0.shared.keys) } == [["appVersion", "preferences"]])
        // A clock that was set back far does not keep it from being sent.
        let sent4 = Self.settle(&machine, at: Self.now - 10 * Self.week)
        #expect(sent4.count == 1)
    }

    @Test("Waits grow, have full jitter, honour the provider, and end with success")
    func backOff() {
        var machine = Self.makeMachine()
        var now = Self.now
        var waits: [TimeInterval] = []
        for _ in 0..<14 {
            guard case .send(let request) = machine.next(now: now) else { break }
            let events = machine.completed(
                request,
                .later(after: nil, reason: "offline"),
                now: now,
                random: 1,
                newInstallation: UUID()
            )
            #expect(events.count == 1)
            guard case .wait(let until) = machine.next(now: now) else { break }
            waits.append(until.timeIntervalSince(now))
            now = until
        }
        #expect(waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600])
        guard case .send(let request) = machine.next(now: now) else {
            Issue.record("nothing is sent")
            return
        }
        let asked = ProviderResult.later(after: .seconds(7000), reason: "status 429")
        _ = machine.completed(request, asked, now: now, random: 0, newInstallation: UUID())
        let asking = machine.next(now: now)
        #expect(asking == .wait(until: now + 7000))
        // A launch does not shorten what the provider asks for, but a guess.
        machine.launched()
        let launched = machine.next(now: now)
        #expect(launched == asking)
        let sent5 = Self.settle(&machine, at: now + 7000)
        #expect(sent5.count == 1)
        machine.want("locale", "de")
        guard case .send(let other) = machine.next(now: now) else { return }
        _ = machine.completed(other, .later(after: nil, reason: ""), now: now, random: 1, newInstallation: UUID())
        machine.launched()
        guard case .send = machine.next(now: now) else {
            Issue.record("a launch is worth a try")
            return
        }
    }

    @Test("A wait is not for ever when the clock is set back")
    func clockSetBack() {
        var machine = Self.makeMachine()
        guard case .send(let request) = machine.next(now: Self.now) else { return }
        _ = machine.completed(
            request,
            .later(after: nil, reason: ""),
            now: Self.now,
            random: 1,
            newInstallation: UUID()
        )
        guard case .send = machine.next(now: Self.now - 30 * 24 * 3600) else {
            Issue.record("it waits for a time that was never")
            return
        }
    }

    @Test(
        "A member that the provider refuses is left out until it changes, and the rest is registered",
        arguments: [
            ("locale", "locale"), ("tags[3]", "tags"), ("attributes.team", "attributes.team"),
            ("attributes", "attributes.team"), ("preferences.quietHours.from", "preferences"),
            ("encryptionKey.key", "encryptionKey"), ("capabilities[0]", "capabilities"),
        ]
    )
    func refusedMember(field: String, name: String) {
        var machine = Self.makeMachine()
        for name in ["locale", "tags", "attributes.team", "preferences", "encryptionKey", "capabilities"] {
            machine.want(name, "bad")
        }
        let refusal = ProviderResult.refused(.init(code: "invalid_value", message: "no", field: field))
        let sent = Self.settle(&machine) { $0.shared[name] == "bad" ? refusal : Self.done }
        #expect(sent.count == 2 && sent.last?.shared[name] == nil && sent.last?.shared.count == 5)
        #expect(machine.isConfirmed(now: Self.now))
        machine.want(name, "good")
        let sent6 = Self.settle(&machine)
        #expect(sent6.first?.shared[name] == "good")
    }

    @Test("A refused token is tried again when it changes, or after the refresh interval")
    func refusedToken() {
        var machine = Self.makeMachine(tokens: [.alert, .voip])
        let refusal = ProviderResult.refused(.init(code: "invalid_token", message: "no", field: "token"))
        let sent = Self.settle(&machine) { $0.place == "alert" ? refusal : Self.done }
        #expect(sent.map(\.place) == ["alert", "voip"])
        machine.want("locale", "de")
        let sent7 = Self.settle(&machine)
        #expect(sent7.map(\.place) == ["voip"])
        let sent8 = Self.settle(&machine, at: Self.now + Self.week)
        #expect(sent8.map(\.place) == ["alert", "voip"])
        _ = machine.register(Self.token, as: .alert, environment: .sandbox, now: Self.now)
        let sent9 = Self.settle(&machine, at: Self.now + Self.week)
        #expect(sent9.map(\.token.environment) == [.sandbox])
    }

    @Test("A request that is refused as a whole is not repeated for a day, whatever is launched")
    func refusedRequest() {
        var machine = Self.makeMachine()
        let refusal = ProviderResult.refused(.init(code: "invalid_key", message: "no"))
        let sent10 = Self.settle(&machine) { _ in refusal }
        #expect(sent10.count == 1)
        machine.launched()
        machine.want("locale", "de")
        let next = machine.next(now: Self.now)
        #expect(next == .wait(until: Self.now + 24 * 3600))
        // Another key is another matter.
        var other = RegistrationStateMachine(machine.state, target: "t", key: "new", refreshInterval: Self.week)
        let sent11 = Self.settle(&other)
        #expect(sent11.count == 1)
    }

    @Test("A refused user proof is dropped, and asked for")
    func refusedProof() {
        var machine = Self.makeMachine()
        machine.want("userProof", "expired")
        guard case .send(let request) = machine.next(now: Self.now) else { return }
        let refusal = ProviderResult.refused(
            .init(code: "invalid_user_proof", message: "it has expired", field: "userProof")
        )
        let events = machine.completed(request, refusal, now: Self.now, random: 1, newInstallation: UUID())
        #expect(events == [.userProofNeeded(installation: Self.installation, reason: "it has expired")])
        let sent12 = Self.settle(&machine)
        #expect(sent12.first?.shared["userProof"] == nil)
    }

    @Test("An installation that is not accepted as its own goes on as a new one, but not again and again")
    func replacement() {
        var machine = Self.makeMachine(tokens: [.alert, .voip])
        machine.want("tags", .array(["a"]))
        machine.want("userProof", .null)
        _ = Self.settle(&machine)
        machine.want("userProof", "jwt")
        let refusal = ProviderResult.refused(.init(code: "not_own_installation", message: "no", field: "secret"))
        let new = UUID()
        guard case .send(let request) = machine.next(now: Self.now) else { return }
        let events = machine.completed(request, refusal, now: Self.now, random: 1, newInstallation: new)
        #expect(events == [.userProofNeeded(installation: new, reason: "the installation has a new id")])
        #expect(machine.state.installation == new && machine.state.secret == nil)
        let sent = Self.settle(&machine)
        #expect(sent.count == 2 && sent.first?.secret == nil && sent.first?.shared == ["tags": .array(["a"])])
        machine.want("locale", "de")
        let sent13 = Self.settle(&machine) { _ in refusal }
        #expect(sent13.count == 1)
        #expect(machine.state.installation == new)
    }

    @Test("The oldest of more than 32 Live Activities is evicted")
    func activities() {
        var machine = Self.makeMachine()
        for number in 0..<40 {
            let kind = TokenKind.liveActivityUpdate(activity: "a\(number)")
            let time = Self.now.addingTimeInterval(Double(number))
            let isTaken = machine.register(Self.token, as: kind, environment: .production, now: time)
            #expect(isTaken)
        }
        #expect(machine.state.tokens.count == 33)
        #expect(
            machine.state.tokens["liveActivityUpdate a7"] == nil && machine.state.tokens["liveActivityUpdate a8"] != nil
        )
        machine.remove(.liveActivityUpdate(activity: "a39"))
        #expect(machine.state.tokens.count == 32)
    }

    @Test("No token is made of nothing, or of too much")
    func impossibleTokens() {
        var machine = Self.makeMachine(tokens: [])
        for (token, kind) in [
            (Data(), TokenKind.alert), (Data(count: 513), .alert), (Self.token, .liveActivityUpdate(activity: "")),
            (Self.token, .liveActivityUpdate(activity: String(repeating: "x", count: 256))),
        ] {
            let isTaken = machine.register(token, as: kind, environment: .production, now: Self.now)
            #expect(!isTaken)
        }
        let next = machine.next(now: Self.now)
        #expect(next == .nothing)
    }

    @Test("Leaving removes the installation before anything else is registered")
    func leaving() {
        var machine = Self.makeMachine()
        machine.want("locale", "de")
        machine.want("tags", .array(["a"]))
        _ = Self.settle(&machine)
        machine.leave()
        _ = machine.register(Self.token, as: .alert, environment: .production, now: Self.now)
        let next = machine.next(now: Self.now)
        #expect(next == .send(.remove(secret: "s1")))
        let sent = Self.settle(&machine)
        #expect(sent.count == 1 && sent.first?.secret == nil && sent.first?.shared == ["locale": "de"])
    }

    @Test("An app that leaves during its first registration is removed")
    func leavingEarly() {
        var machine = Self.makeMachine()
        guard case .send(let request) = machine.next(now: Self.now) else { return }
        machine.started(request)
        machine.leave()
        _ = machine.completed(request, Self.done, now: Self.now, random: 1, newInstallation: UUID())
        let next = machine.next(now: Self.now)
        #expect(next == .send(.remove(secret: "s1")))
        let sent14 = Self.settle(&machine)
        #expect(sent14.isEmpty && machine.next(now: Self.now) == .nothing)
    }

    @Test("Another provider is told everything")
    func otherProvider() {
        var machine = Self.makeMachine()
        machine.want("tags", .array(["a"]))
        _ = Self.settle(&machine)
        var other = RegistrationStateMachine(machine.state, target: "u", key: "k", refreshInterval: Self.week)
        let sent = Self.settle(&other)
        #expect(sent.count == 1 && sent.first?.secret == nil && sent.first?.shared["tags"] == .array(["a"]))
    }

    @Test("An attribute that is removed needs no place once that is confirmed")
    func removedAttribute() {
        var machine = Self.makeMachine()
        machine.want("attributes.team", "red")
        _ = Self.settle(&machine)
        machine.want("attributes.team", .null)
        let sent15 = Self.settle(&machine)
        #expect(sent15.first?.shared == ["attributes.team": .null])
        #expect(machine.state.wanted.isEmpty && Self.settle(&machine).isEmpty)
    }

    @Test("What one request has no room for is sent with the next ones, the user first")
    func manyChanges() {
        var machine = Self.makeMachine()
        for number in 0..<100 { machine.want("attributes.\(number)", .string(String(repeating: "x", count: 256))) }
        machine.want("userProof", .null)
        machine.want("preferences", NotificationPreferences(optOuts: ["news"]).json)
        let sent = Self.settle(&machine)
        #expect((2...4).contains(sent.count))
        #expect(sent.allSatisfy { RegistrationStateMachine.Request.register($0).body?.json.count ?? 0 < 15_000 })
        #expect(sent.first?.shared["userProof"] == .null && sent.first?.shared["preferences"] != nil)
        #expect(Set(sent.flatMap(\.shared.keys)).count == 102)
        #expect(machine.isConfirmed(now: Self.now))
    }

    @Test("The state survives a restart")
    func restart() throws {
        var machine = Self.makeMachine(tokens: [.alert, .liveActivityUpdate(activity: "x")])
        machine.want("attributes.level", 3)
        _ = Self.settle(&machine)
        machine.want("locale", "de")
        let data = try JSONEncoder().encode(machine.state)
        let state = try JSONDecoder().decode(RegistrationState.self, from: data)
        #expect(state == machine.state)
    }

    @Test("The state of another version keeps what is understood, and its installation at least")
    func otherVersion() throws {
        let id = "0A1B2C3D-0000-4000-8000-00000000000F"
        let text = #"{"installation":"\#(id)","secret":"s","tokens":{"alert":{"new":1}},"refused":7,"later":{}}"#
        let state = try JSONDecoder().decode(RegistrationState.self, from: Data(text.utf8))
        #expect(state.installation.uuidString == id && state.secret == "s" && state.tokens.isEmpty)
        // Nobody knows any more what the user allowed.
        #expect(state.receiptPrivacy == .none)
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(RegistrationState.self, from: Data(#"{"secret":"s"}"#.utf8))
        }
    }
}
