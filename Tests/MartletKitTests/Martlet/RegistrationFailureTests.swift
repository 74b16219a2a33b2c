import Foundation
import Testing

@testable import MartletKit

@Suite("The registration's state machine when requests fail") struct RegistrationFailureTests {
    private typealias Base = RegistrationStateMachineTests
    private static let now = Base.now
    private static let lost = ProviderResult.later(after: nil, reason: "offline")

    private static func refusal(_ code: String, _ field: String? = nil) -> ProviderResult {
        .refused(.init(code: code, message: "no", field: field))
    }

    /// Sends the next request and takes its response.
    /// - Returns: The request, and what the app hears.
    @discardableResult private static func answer(
        _ machine: inout RegistrationStateMachine,
        _ response: ProviderResult,
        at now: Date = now
    ) throws -> (request: RegistrationStateMachine.Request, events: [Martlet.Event]) {
        guard case .send(let request) = machine.next(now: now) else { throw NothingSent() }
        machine.started(request)
        let events = machine.completed(request, response, now: now, random: 1, newInstallation: UUID())
        return (request, events)
    }

    private struct NothingSent: Error {}

    private static func shared(_ request: RegistrationStateMachine.Request) -> [String: JSONValue] {
        if case .register(let registration) = request { registration.shared } else { [:] }
    }

    /// A machine that the provider has registered, with the user alice.
    private static func withAlice() -> RegistrationStateMachine {
        var machine = Base.makeMachine()
        machine.want("userProof", "alice")
        _ = Base.settle(&machine)
        return machine
    }

    // MARK: - Users

    @Test("A user whose logout waits is detached even if the next user's proof is refused", arguments: [true, false])
    func lostLogout(isLoggedOut: Bool) throws {
        var machine = Self.withAlice()
        if isLoggedOut { machine.want("userProof", .null) }
        machine.want("userProof", "bob")
        let (_, events) = try Self.answer(&machine, Self.refusal("invalid_user_proof", "userProof"))
        #expect(events == [.userProofNeeded(installation: Base.installation, reason: "no")])
        let (request, _) = try Self.answer(&machine, Base.done)
        #expect(Self.shared(request)["userProof"] == .null)
        #expect(machine.next(now: Self.now) == .nothing)
    }

    @Test("A user is detached whose login may have been carried out, also after a restart")
    func lostLogin() throws {
        for isRestarted in [false, true] {
            var machine = Base.makeMachine()
            _ = Base.settle(&machine)
            machine.want("userProof", "alice")
            if isRestarted {
                guard case .send(let request) = machine.next(now: Self.now) else { throw NothingSent() }
                machine.started(request)
                let data = try JSONEncoder().encode(machine.state)
                let state = try JSONDecoder().decode(RegistrationState.self, from: data)
                machine = .init(state, target: "t", key: "k", refreshInterval: Base.week)
            } else {
                try Self.answer(&machine, Self.lost)
            }
            machine.want("userProof", "bob")
            try Self.answer(&machine, Self.refusal("invalid_user_proof", "userProof"), at: Self.now + 10)
            let (request, _) = try Self.answer(&machine, Base.done, at: Self.now + 10)
            #expect(Self.shared(request)["userProof"] == .null)
        }
    }

    @Test("A logout without a token that can be sent goes with the last that the provider has confirmed")
    func logoutWithoutToken() throws {
        var forgotten = Self.withAlice()
        forgotten.remove(.alert)
        var refused = Self.withAlice()
        _ = refused.register(Data(count: 32), as: .alert, environment: .production, now: Self.now)
        try Self.answer(&refused, Self.refusal("invalid_token", "token"))
        for var machine in [forgotten, refused] {
            machine.want("locale", "de")
            machine.want("userProof", .null)
            guard case .send(.register(let registration)) = machine.next(now: Self.now) else { throw NothingSent() }
            #expect(registration.token.text == String(repeating: "01", count: 32))
            #expect(registration.shared == ["userProof": .null])
            try Self.answer(&machine, Base.done)
            #expect(machine.next(now: Self.now) == .nothing)
            // A token that is not taken any more is not tried again and again.
            machine.want("userProof", .null)
            try Self.answer(&machine, Self.refusal("invalid_token", "token"))
            #expect(machine.next(now: Self.now) == .nothing)
        }
    }

    // MARK: - Leaving

    @Test("A removal ends only when the provider has removed the installation, or does not know it as this one's")
    func refusedRemoval() throws {
        for code in ["invalid_key", "not_found", "insufficient_scope"] {
            var machine = Self.withAlice()
            machine.leave()
            let (_, events) = try Self.answer(&machine, Self.refusal(code))
            #expect(events.first == .refused(member: nil, code: code, message: "no"))
            guard case .wait(let until) = machine.next(now: Self.now) else { throw NothingSent() }
            #expect(machine.next(now: until) == .send(.remove(secret: "s1")))
        }
        var machine = Self.withAlice()
        machine.leave()
        try Self.answer(&machine, Self.refusal("not_own_installation", "installation-secret"))
        #expect(machine.next(now: Self.now) == .nothing && machine.state.secret == nil)
    }

    @Test("An installation whose first response was lost is removed with the secret that the same request brings again")
    func leavingWithoutSecret() throws {
        var machine = Base.makeMachine()
        machine.want("userProof", "alice")
        let (first, _) = try Self.answer(&machine, Self.lost)
        machine.leave()
        guard case .register(let sent) = first else { throw NothingSent() }
        let (again, events) = try Self.answer(&machine, Base.done, at: Self.now + 10)
        guard case .register(let registration) = again else { throw NothingSent() }
        #expect(registration.token.text == sent.token.text && registration.shared.isEmpty && events.isEmpty)
        let (removal, removed) = try Self.answer(&machine, .done([:]), at: Self.now + 10)
        #expect(removal == .remove(secret: "s1") && removed == [.removed])
        #expect(machine.next(now: Self.now + 10) == .nothing)
    }

    @Test("Leaving without a secret ends if the provider knows no such token, and at once if nothing was ever sent")
    func leavingNothing() throws {
        for (code, field) in [("not_own_installation", "secret"), ("invalid_token", "token")] {
            var machine = Base.makeMachine()
            try Self.answer(&machine, Self.lost)
            machine.leave()
            try Self.answer(&machine, Self.refusal(code, field), at: Self.now + 10)
            #expect(machine.next(now: Self.now + 10) == .nothing && !machine.state.isLeaving)
        }
        var machine = Base.makeMachine()
        machine.leave()
        #expect(machine.next(now: Self.now) == .nothing && !machine.state.isLeaving)
    }

    // MARK: - Size

    @Test("A refresh with as much as an app can set is within 16 KiB")
    func largestRefresh() {
        let text = String(repeating: "\u{1}", count: 255)
        var machine = Base.makeMachine(tokens: [])
        _ = machine.register(
            Data(count: 512),
            as: .liveActivityUpdate(activity: text),
            environment: .production,
            now: Self.now
        )
        machine.want(
            "preferences",
            NotificationPreferences(optOuts: Set((0..<100).map { "\($0)" + String(repeating: "x", count: 60) })).json
        )
        machine.want("encryptionKey", .object(["id": .string(text.prefix(64) + ""), "key": .string(text)]))
        for name in ["locale", "timeZone", "appVersion"] { machine.want(name, .string(text)) }
        _ = Base.settle(&machine)
        for name in 0..<10 { machine.want("attributes.\(name)\(text.dropLast())", .string(text)) }
        machine.want("userProof", .string(String(repeating: "x", count: 4096)))
        machine.want("tags", .array((0..<30).map { .string("\($0)" + String(repeating: "x", count: 250)) }))
        let sent = Base.settle(&machine, at: Self.now + Base.week)
        #expect(sent.allSatisfy { RegistrationStateMachine.Request.register($0).body?.json.count ?? 0 <= 16384 })
        #expect(sent.contains { $0.shared["tags"] != nil } && sent.count < 20)
        let isConfirmed = machine.isConfirmed(now: Self.now + Base.week)
        #expect(isConfirmed)
    }

    @Test("A request that is refused for its size is not repeated as it is")
    func tooLarge() throws {
        var machine = Base.makeMachine()
        for number in 0..<8 { machine.want("attributes.\(number)", .string(String(repeating: "x", count: 256))) }
        machine.want("tags", .array([.string(String(repeating: "x", count: 250))]))
        let refusal = Self.refusal(ProviderRefusal.tooLarge)
        let isTooLarge = { (registration: RegistrationStateMachine.Registration) in
            registration.shared["attributes.3"] != nil || registration.shared.count > 3
        }
        var bodies: [Data] = []
        let sent = Base.settle(&machine) { registration in
            bodies.append(RegistrationStateMachine.Request.register(registration).body?.json ?? Data())
            return isTooLarge(registration) ? refusal : Base.done
        }
        #expect(Set(bodies).count == bodies.count && sent.count < 20)
        #expect(machine.state.confirmed.count == 8 && machine.state.confirmed["attributes.3"] == nil)
        #expect(machine.isConfirmed(now: Self.now))
    }

    @Test("The attributes are bounded, and a removed one makes room")
    func attributes() {
        var machine = Base.makeMachine()
        for number in 0..<100 {
            let isSet = machine.setAttribute("\(number)", to: 1)
            #expect(isSet)
        }
        let (isTooMany, isRemoved) = (!machine.setAttribute("x", to: 1), machine.setAttribute("7", to: .null))
        #expect(isTooMany && isRemoved)
        _ = Base.settle(&machine)
        let isSet = machine.setAttribute("x", to: 1)
        #expect(isSet && machine.state.wanted.count == 100)
    }
}
