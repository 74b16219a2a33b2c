import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// What a stop promises, in every stage of a push (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct StopTests {
    private static func naming(_ number: Int) -> [String: JSONValue] {
        ["to": ["tokens": [.string(DeviceToken.numbered(number).hex)]], "environment": "sandbox"]
    }

    /// The stops of whatever is in memory for the second of two notifications.
    enum Stop: CaseIterable {
        case pause, cancel, app, device, token, credential

        func apply(_ fixture: DispatchFixture, _ direct: DirectDispatch, _ second: NotificationRecord) async throws
            -> Int
        {
            let app = fixture.app
            switch self {
            case .pause:
                try await fixture.set(second, .pause(reason: nil))
                return direct.apply(.notification(second.id)).count
            case .cancel:
                try await fixture.set(second, .cancel)
                return direct.apply(.notification(second.id)).count
            case .app:
                _ = try await fixture.store.stop(AppStop(app: app, since: fixture.time.now, reason: nil, by: nil))
                return direct.apply(.app(app)).count
            case .device:
                // Alerts do not go to it any more.
                try await fixture.register(2...2) { $0.kind = .voip }
                return direct.apply(.devices([try #require(try await fixture.device(2)).id], app: app)).count
            case .token:
                let erasure = try await fixture.store.eraseUser("bob", app: app, steady: fixture.time.steady)
                while try await fixture.store.continueErasure(erasure, now: fixture.time.now) {}
                return direct.apply(.tokens(try await fixture.store.tokens(of: erasure), app: app)).count
            case .credential:
                _ = try await fixture.store.removeCredential(app: app, environment: .sandbox)
                fixture.directory.forget(app: app)
                return direct.apply(.environment(AppEnvironment(app: app, environment: .sandbox))).count
            }
        }

        /// The pushes that are under way: one is, to another device.
        var underWay: Int { self == .app || self == .credential ? 1 : 0 }
    }

    /// The first push is in flight, the second waits in memory for its slot; no time passes.
    @Test(arguments: Stop.allCases, StoreBackend.available)
    func aStopReachesWhatIsInMemory(stop: Stop, backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            try await fixture.register(2...2) { $0.user = .set("bob") }
            var limits = fixture.limits
            limits.urgentSlots = 4
            let direct = DirectDispatch(store: fixture.store, limits: limits, time: fixture.time)
            let gate = Gate()
            fixture.sender.onSend { _ in await gate.pass() }
            try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                defer { gate.open() }
                var probe = try NotificationRecord.fixture(app: fixture.app, to: .tokens([.numbered(1)]))
                probe.lane = .urgent
                try await eventually { direct.place(for: probe).map(direct.leave) != nil }
                let acceptor = fixture.acceptor(direct)
                let first = try await fixture.accept(Self.naming(1), by: acceptor)
                try await eventually { !fixture.sender.sent.isEmpty }
                let second = try await fixture.accept(Self.naming(2), by: acceptor)
                #expect(try await stop.apply(fixture, direct, second) == stop.underWay)
                gate.open()
                try await eventually { try await fixture.progress(of: first).progress.accepted == 1 }
                try await eventually { direct.isIdle }
                #expect(fixture.sentTokens == [.numbered(1)], "nothing of the second one leaves")
                let progress = try await fixture.progress(of: second)
                #expect(progress.progress.accepted == 0)
                switch stop {
                case .pause: #expect(progress.state == .paused)
                case .cancel: #expect(progress.state == .cancelled)
                case .token:
                    #expect(progress.state == .done)
                    #expect(progress.progress.skipped == 1)
                    let reasons = try await fixture.deliveries(of: second).map(\.reason)
                    #expect(reasons == [EndingCause.erased.rawValue])
                case .app, .device, .credential: break
                }
            }
        }
    }

    /// A push that is in flight is counted, and its notification ends with it.
    @Test(arguments: [StateChange.pause(reason: nil), .cancel], StoreBackend.available)
    func whatIsInFlightIsCounted(change: StateChange, backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = DirectDispatch(store: fixture.store, limits: fixture.limits, time: fixture.time)
            let dispatcher = fixture.dispatcher(direct: direct)
            let notification = try await fixture.accept(Self.naming(1))
            fixture.whileSending {
                try await fixture.set(notification, change)
                let underWay = direct.apply(.notification(notification.id))
                #expect(underWay.count == 1)
                #expect(await !underWay.settle(within: .zero))
            }
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 1)
            let after = try await fixture.progress(of: notification)
            #expect(after.progress.accepted == 1)
            #expect(after.state == (change == .cancel ? .cancelled : .done))
            #expect(direct.isIdle)
            #expect(await direct.apply(.notification(notification.id)).settle(within: .zero))
        }
    }

    /// A page of a campaign that was paused before it is handed over goes on where it stood.
    @Test(arguments: StoreBackend.available)
    func aPageThatWasReadIsNotSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...5)
            let direct = DirectDispatch(store: fixture.store, limits: fixture.limits, time: fixture.time)
            let dispatcher = fixture.dispatcher(direct: direct)
            let notification = try await fixture.accept([:])
            for claim in try await dispatcher.claimShards(.bulk, limit: 1) {
                try await fixture.set(notification, .pause(reason: nil))
                #expect(direct.apply(.notification(notification.id)).count == 0)
                try await dispatcher.sendShard(claim)
            }
            #expect(fixture.sender.sent.isEmpty)
            try await fixture.set(notification, .resume)
            try await fixture.settle(dispatcher)
            try await fixture.store.expect(notification, .done, accepted: 5, recipients: 5)
            #expect(Set(fixture.sentTokens).count == 5 && fixture.sentTokens.count == 5)
        }
    }

    /// The rest of a page that is being sent is taken back, and sent once it may be.
    @Test(arguments: ["atLeastOnce", "atMostOnce"], StoreBackend.available)
    func theRestOfAPageIsTakenBack(guarantee: String, backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...5)
            let direct = DirectDispatch(store: fixture.store, limits: fixture.limits, time: fixture.time)
            let dispatcher = fixture.dispatcher(direct: direct)
            let notification = try await fixture.accept(["guarantee": .string(guarantee)])
            fixture.whileSending {
                try await fixture.set(notification, .pause(reason: nil))
                #expect(direct.apply(.notification(notification.id)).count == 1)
            }
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 1)
            let paused = try await fixture.progress(of: notification)
            #expect(paused.state == .paused && paused.progress.accepted == 1 && paused.progress.retrying == 4)
            try await fixture.set(notification, .resume)
            try await fixture.settle(dispatcher)
            try await fixture.store.expect(notification, .done, accepted: 5, recipients: 5)
            #expect(Set(fixture.sentTokens).count == 5 && fixture.sentTokens.count == 5)
        }
    }

    /// What a stop finds on its way from the store to memory is not sent either.
    @Test(arguments: StoreBackend.available)
    func aStopHoldsForWhatIsBeingClaimed(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let notification = try await fixture.accept(Self.naming(1))
            let leases = HeldLeases()
            let memory = ActiveClaim(notification)
            _ = try await leases.claim(fence: { $0 }, memory: { _ in memory }) { _ -> [Int64] in
                #expect(leases.apply(.notification(notification.id)).count == 0)
                return [1]
            }
            #expect(memory.examineAgain())
            #expect(!memory.examineAgain(), "it is examined once")
            _ = try await leases.claim(fence: { $0 }, memory: { _ in memory }) { _ -> [Int64] in [2] }
            #expect(!memory.examineAgain(), "a later claim finds the stop in the store")
            leases.end(1, memory)
            #expect(leases.isIdle)
        }
    }

    /// The user is erased while a push to the user's token waits for its time: nothing goes to another token instead.
    @Test(arguments: StoreBackend.available)
    func anErasedTokenIsSkipped(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.user = .set("alice") }
            let start = fixture.time.now.advanced(by: .seconds(60)).milliseconds
            let members = Self.naming(1).merging(["when": ["at": .integer(start)]]) { $1 }
            let notification = try await fixture.accept(members)
            let erasure = try await fixture.store.eraseUser("alice", app: fixture.app, steady: fixture.time.steady)
            while try await fixture.store.continueErasure(erasure, now: fixture.time.now) {}
            try await fixture.settle(after: .seconds(61))
            #expect(fixture.sender.sent.isEmpty)
            try await fixture.store.expect(notification, .done, skipped: 1, recipients: 1)
            #expect(try await fixture.deliveries(of: notification).map(\.reason) == [EndingCause.erased.rawValue])
        }
    }

    /// Another user has the token since: what is sent to it then is that user's, also while the erasure settles.
    @Test(arguments: StoreBackend.available)
    func aTokenThatAnotherUserHasIsSentTo(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.user = .set("alice") }
            let erasure = try await fixture.store.eraseUser("alice", app: fixture.app, steady: fixture.time.steady)
            while try await fixture.store.continueErasure(erasure, now: fixture.time.now) {}
            try await fixture.register(1...1) { $0.user = .set("bob") }
            let start = fixture.time.now.advanced(by: .seconds(60)).milliseconds
            let later = try await fixture.accept(Self.naming(1).merging(["when": ["at": .integer(start)]]) { $1 })
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            let retried = try await fixture.accept(Self.naming(1))
            try await fixture.settle()
            try await fixture.store.expect(retried, retrying: 1)
            while try await fixture.store.continueErasure(erasure, now: fixture.time.now) {}
            try await fixture.settle(after: .seconds(61), times: 5)
            for notification in [later, retried] {
                try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
            }
        }
    }
}
