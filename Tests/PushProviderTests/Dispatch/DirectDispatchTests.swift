import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Notifications that are claimed when they are accepted.
@Suite(.timeLimit(.patience)) struct DirectDispatchTests {
    private static let named = Self.naming(1)

    private static func naming(_ number: Int) -> [String: JSONValue] {
        ["to": ["tokens": [.string(DeviceToken.numbered(number).hex)]], "environment": "sandbox"]
    }

    private func direct(_ fixture: DispatchFixture, _ limits: DispatchLimits? = nil) -> DirectDispatch {
        DirectDispatch(store: fixture.store, limits: limits ?? fixture.limits, time: fixture.time)
    }

    /// Opens a way whose dispatcher never begins.
    private func open(
        _ direct: DirectDispatch,
        _ fixture: DispatchFixture,
        _ limits: DispatchLimits? = nil
    ) -> (LaneSlots, AsyncStream<DirectDispatch.Work>) {
        let slots = LaneSlots(.urgent, limits: (limits ?? fixture.limits).checked, time: fixture.time)
        return (slots, direct.open(slots))
    }

    /// Runs `body` with one slot for each app and environment.
    private func withOneSlot(
        _ backend: StoreBackend,
        _ body: (DispatchFixture, DispatchLimits, DirectDispatch) async throws -> Void
    ) async throws {
        try await DispatchFixture.run(backend) { fixture in
            var limits = fixture.limits
            limits.urgentSlots = 4
            try await body(fixture, limits, self.direct(fixture, limits))
        }
    }

    /// Waits until the dispatcher has opened the way, or closed it.
    private func wait(_ fixture: DispatchFixture, untilOpen isOpen: Bool, _ direct: DirectDispatch) async throws {
        var probe = try NotificationRecord.fixture(app: fixture.app, to: .tokens([.numbered(1)]))
        probe.lane = .urgent
        try await eventually { (direct.place(for: probe).map(direct.leave) != nil) == isOpen }
    }

    private func claimable(_ fixture: DispatchFixture) async throws -> Int {
        let now = fixture.time.steady
        return try await fixture.store.claim(lane: .urgent, now: now, until: now, limit: 100).count
    }

    @Test(arguments: StoreBackend.available)
    func aPushIsSentOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            let acceptor = fixture.acceptor(direct)
            try await withServices([fixture.dispatcher(direct: direct)]) {
                try await self.wait(fixture, untilOpen: true, direct)
                var accepted: [NotificationRecord] = []
                for _ in 0..<20 { accepted.append(try await fixture.accept(Self.named, by: acceptor)) }
                for notification in accepted {
                    try await eventually { try await fixture.progress(of: notification).state == .done }
                    try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
                }
                #expect(fixture.sender.sent.count == 20)
                #expect(Set(fixture.sender.sent.map(\.lane)) == [.urgent])
            }
            #expect(try await fixture.store.recover(now: fixture.time.now) == 0)
        }
    }

    /// The response leaves only once the notification is on disk, and its process ends before it sends it.
    @Test(arguments: StoreBackend.available)
    func aCrashBeforeTheSendingCostsNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            let (slots, work) = self.open(direct, fixture)
            let notification = try await fixture.accept(Self.named, by: fixture.acceptor(direct))
            #expect(slots.isBusy)
            #expect(try await fixture.progress(of: notification).progress.ahead.isInFlight)
            withExtendedLifetime(work) {}
            // The next process.
            #expect(try await fixture.store.recover(now: fixture.time.now) == 0)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
            try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func withoutADispatcherEverythingWaitsInTheStore(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            let acceptor = fixture.acceptor(direct)
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(try await self.claimable(fixture) == 1)
            let (_, work) = self.open(direct, fixture)
            await direct.close()
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(try await self.claimable(fixture) == 2)
            for await _ in work { Issue.record("nothing comes on a way that is closed") }
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsNotDueOrNotNamedIsFoundInTheStore(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.user = .set("alice") }
            let direct = self.direct(fixture)
            let (slots, work) = self.open(direct, fixture)
            let tokens = (1...9).map { JSONValue.string(DeviceToken.numbered($0).hex) }
            let others: [[String: JSONValue]] = [
                ["to": ["user": "alice"]], ["to": ["tokens": .array(tokens)]], ["urgent": false],
                ["when": ["at": .integer(fixture.time.now.milliseconds + 3_600_000)]],
            ]
            let id = try #require(ChannelID("dGVzdC0x"))
            var broadcast = try NotificationRecord.fixture(
                app: fixture.app,
                to: .channel(BroadcastChannel(id: id, storage: .none))
            )
            broadcast.lane = .urgent
            #expect(direct.place(for: broadcast) == nil)
            for members in others {
                let all = Self.named.merging(members) { $1 }
                _ = try await fixture.accept(all, by: fixture.acceptor(direct))
                #expect(!slots.isBusy, "\(members)")
            }
            _ = try await fixture.accept(Self.named, by: fixture.acceptor(direct))
            #expect(slots.isBusy)
            withExtendedLifetime(work) {}
        }
    }

    @Test(arguments: StoreBackend.available)
    func aStoppedAppWaitsInTheStore(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            let (slots, work) = self.open(direct, fixture)
            let stop = AppStop(app: fixture.app, since: fixture.time.now, reason: nil, by: nil)
            _ = try await fixture.store.stop(stop)
            let notification = try await fixture.accept(Self.named, by: fixture.acceptor(direct))
            #expect(!slots.isBusy, "it has none")
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            _ = try await fixture.store.resumeApp(fixture.app)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
            withExtendedLifetime(work) {}
        }
    }

    /// A request that is refused gives its place back.
    @Test(arguments: StoreBackend.available)
    func aRequestThatIsNotAcceptedKeepsNoPlace(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            var limits = fixture.limits
            limits.urgentQueue = 4
            let direct = self.direct(fixture, limits)
            let (slots, work) = self.open(direct, fixture)
            let acceptor = fixture.acceptor(direct)
            // The token is registered for alerts.
            let background = Self.named.merging(["pushType": "voip"]) { $1 }
            for _ in 0..<3 {
                await #expect(throws: RequestError.self) { try await fixture.accept(background, by: acceptor) }
            }
            #expect(!slots.isBusy)
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(slots.isBusy, "the only place of the app is free")
            withExtendedLifetime(work) {}
        }
    }

    /// Without a free slot a notification waits for one in memory, where it has a place.
    @Test(arguments: StoreBackend.available)
    func whatFindsNoSlotTakesTheNextOne(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let (slots, work) = self.open(direct, fixture, limits)
            var accepted: [NotificationRecord] = []
            for _ in 0..<3 { accepted.append(try await fixture.accept(Self.named, by: fixture.acceptor(direct))) }
            #expect(try await self.claimable(fixture) == 0)
            var items = work.makeAsyncIterator()
            for notification in accepted {
                let next = try #require(await items.next())
                #expect(next.shard.claim.notification.id == notification.id, "in their order")
                next.slot.release()
                direct.fill()
            }
            #expect(!slots.isBusy)
        }
    }

    /// Without a place it is accepted all the same, and later ones do not overtake it.
    @Test(arguments: StoreBackend.available)
    func whatFindsNoPlaceWaitsInTheStoreAndInItsOrder(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            var limits = fixture.limits
            // One slot and one place for each app and environment.
            (limits.urgentSlots, limits.urgentQueue) = (4, 4)
            let direct = self.direct(fixture, limits)
            let (slots, work) = self.open(direct, fixture, limits)
            let acceptor = fixture.acceptor(direct)
            for _ in 0..<4 { _ = try await fixture.accept(Self.named, by: acceptor) }
            #expect(try await self.claimable(fixture) == 2)
            var items = work.makeAsyncIterator()
            for _ in 0..<2 {
                try #require(await items.next()).slot.release()
                direct.fill()
            }
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(!slots.isBusy, "two wait before it")
            direct.noneWaits(besides: [DispatchTarget(app: fixture.app, environment: .sandbox)])
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(!slots.isBusy)
            direct.noneWaits(besides: [])
            _ = try await fixture.accept(Self.named, by: acceptor)
            #expect(slots.isBusy)
        }
    }

    /// What waits for a slot when the dispatcher ends is sent after the next start.
    @Test(arguments: StoreBackend.available)
    func whatWaitsAtTheEndIsSentAfterTheNextStart(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let (_, work) = self.open(direct, fixture, limits)
            for _ in 0..<3 { _ = try await fixture.accept(Self.named, by: fixture.acceptor(direct)) }
            await direct.close()
            let arrived = await work.reduce(0) { count, _ in count + 1 }
            #expect(arrived == 1)
            #expect(try await self.claimable(fixture) == 2, "they are released")
            _ = try await fixture.store.recover(now: fixture.time.now)
            try await fixture.settle()
            #expect(Set(fixture.sender.sent.map(\.notification.id)).count == 3)
            #expect(fixture.sender.sent.count == 3)
        }
    }

    /// A request whose acceptance ends after the dispatcher.
    @Test(arguments: StoreBackend.available)
    func whatComesTooLateIsReleased(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            let (_, work) = self.open(direct, fixture)
            var notification = try NotificationRecord.fixture(
                app: fixture.app,
                to: .tokens([.numbered(1)]),
                environment: .sandbox
            )
            (notification.lane, notification.progress.recipients) = (.urgent, 1)
            let place = try #require(direct.place(for: notification))
            let request = AcceptanceRequest(
                notification,
                shards: [ShardPlan(notBefore: .atOnce)],
                isClaimed: true
            )
            let claimed = try #require(try await direct.ledger.accept(request).claimed)
            await direct.close()
            await direct.start(claimed, from: place)
            for await _ in work { Issue.record("nothing comes on a way that is closed") }
            #expect(try await self.claimable(fixture) == 1)
        }
    }

    /// The dispatcher ends while one push is in flight and others wait for its slot.
    @Test(arguments: StoreBackend.available)
    func aShutdownReleasesWhatWaits(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let gate = Gate()
            fixture.sender.onSend { _ in await gate.pass() }
            let (accepted, end) = try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                try await self.wait(fixture, untilOpen: true, direct)
                var accepted: [NotificationRecord] = []
                for _ in 0..<5 {
                    accepted.append(try await fixture.accept(Self.named, by: fixture.acceptor(direct)))
                }
                // The first one has its response once nothing else is started.
                let end = Task {
                    defer { gate.open() }
                    try await self.wait(fixture, untilOpen: false, direct)
                }
                return (accepted, end)
            }
            try await end.value
            #expect(fixture.sender.sent.count == 1)
            try await fixture.store.expect(accepted[0], .done, accepted: 1, recipients: 1)
            for notification in accepted.dropFirst() {
                let progress = try await fixture.progress(of: notification).progress
                #expect(!progress.ahead.isInFlight && progress.startedAt == nil)
            }
            try await fixture.settle()
            #expect(Set(fixture.sender.sent.map(\.notification.id)).count == 5)
            #expect(fixture.sender.sent.count == 5)
        }
    }

    /// What changes while notifications wait for a slot counts, as it does for those that wait in the store.
    @Test(arguments: StoreBackend.available)
    func whatHasWaitedLongIsExaminedAgain(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let gate = Gate()
            fixture.sender.onSend { _ in await gate.pass() }
            try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                defer { gate.open() }
                try await self.wait(fixture, untilOpen: true, direct)
                var accepted: [NotificationRecord] = []
                for number in 1...5 {
                    accepted.append(try await fixture.accept(Self.naming(number), by: fixture.acceptor(direct)))
                }
                try await fixture.set(accepted[1], .cancel)
                try await fixture.set(accepted[2], .pause(reason: nil))
                // Alerts do not go to it any more.
                try await fixture.register(4...4) { $0.kind = .voip }
                fixture.time.advance(by: .seconds(2))
                gate.open()
                for index in [0, 3, 4] {
                    try await eventually { try await fixture.progress(of: accepted[index]).state == .done }
                }
                #expect(Set(fixture.sentTokens) == [.numbered(1), .numbered(5)])
                #expect(try await fixture.progress(of: accepted[1]).state == .cancelled)
                #expect(try await fixture.deliveries(of: accepted[1]).isEmpty)
                #expect(try await fixture.progress(of: accepted[2]).state == .paused)
                try await fixture.set(accepted[2], .resume)
                try await eventually {
                    fixture.wakes[.urgent].signal()
                    return try await fixture.progress(of: accepted[2]).state == .done
                }
                #expect(Set(fixture.sentTokens) == [.numbered(1), .numbered(3), .numbered(5)])
                #expect(fixture.sentTokens.count == 3)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppThatIsStoppedMeanwhileSendsNothingMore(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let gate = Gate()
            fixture.sender.onSend { _ in await gate.pass() }
            try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                defer { gate.open() }
                try await self.wait(fixture, untilOpen: true, direct)
                var accepted: [NotificationRecord] = []
                for number in 1...3 {
                    accepted.append(try await fixture.accept(Self.naming(number), by: fixture.acceptor(direct)))
                }
                // The first one is in flight.
                try await eventually { !fixture.sender.sent.isEmpty }
                _ = try await fixture.store.stop(
                    AppStop(app: fixture.app, since: fixture.time.now, reason: nil, by: nil)
                )
                fixture.time.advance(by: .seconds(2))
                gate.open()
                for notification in accepted {
                    try await eventually {
                        try await !fixture.progress(of: notification).progress.ahead.isInFlight
                    }
                }
                #expect(fixture.sentTokens == [.numbered(1)])
                _ = try await fixture.store.resumeApp(fixture.app)
                for notification in accepted {
                    try await eventually {
                        fixture.wakes[.urgent].signal()
                        return try await fixture.progress(of: notification).state == .done
                    }
                }
                #expect(fixture.sentTokens.count == 3)
            }
        }
    }

    /// More apps than there are slots, each with more than one notification.
    @Test(arguments: StoreBackend.available)
    func appsTakeTurns(backend: StoreBackend) async throws {
        try await self.withOneSlot(backend) { fixture, limits, direct in
            let (slots, work) = self.open(direct, fixture, limits)
            let acceptor = fixture.acceptor(direct)
            var apps: [AppRecord] = []
            for number in 1...12 {
                let topic = try #require(Topic("com.example.app\(number)"))
                apps.append(try await fixture.store.addApp(bundleID: topic, name: nil, now: fixture.time.now).app)
            }
            for _ in 0..<3 {
                for app in apps {
                    var members = Self.named
                    members["alert"] = "Hello"
                    let request = try NotificationRequest(
                        parsing: JSONValue.object(members).text,
                        bundleID: app.bundleID,
                        now: fixture.time.now
                    )
                    _ = try await acceptor.accept(request, app: app.id)
                }
            }
            var items = work.makeAsyncIterator()
            var started: [Int64] = []
            for _ in 0..<36 {
                let next = try #require(await items.next())
                started.append(next.shard.claim.notification.app)
                next.slot.release()
                direct.fill()
            }
            #expect(Set(started.prefix(12)) == Set(apps.map(\.id)), "each has one before any has a second")
            #expect(!slots.isBusy)
        }
    }

    /// A flood of one app that fills its share, while the push service does not respond.
    @Test(arguments: StoreBackend.available)
    func allOfAFloodAreSentOnceInTheEnd(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            var limits = fixture.limits
            (limits.urgentSlots, limits.urgentQueue) = (8, 16)
            let direct = self.direct(fixture, limits)
            let acceptor = fixture.acceptor(direct)
            let gate = Gate()
            fixture.sender.onSend { _ in await gate.pass() }
            try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                defer { gate.open() }
                var accepted: [NotificationRecord] = []
                for _ in 0..<30 { accepted.append(try await fixture.accept(Self.named, by: acceptor)) }
                gate.open()
                for notification in accepted {
                    try await eventually {
                        fixture.wakes[.urgent].signal()
                        return try await fixture.progress(of: notification).state == .done
                    }
                }
                #expect(Set(fixture.sender.sent.map(\.notification.id)).count == 30)
                #expect(fixture.sender.sent.count == 30)
            }
        }
    }

    /// A try that failed is repeated, though nothing else wakes the lane.
    @Test(arguments: StoreBackend.available)
    func aRefusedPushIsTriedAgain(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let direct = self.direct(fixture)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            try await withServices([fixture.dispatcher(direct: direct)]) {
                let notification = try await fixture.accept(Self.named, by: fixture.acceptor(direct))
                try await eventually { try await fixture.progress(of: notification).progress.retrying == 1 }
                try await eventually {
                    fixture.time.advance(by: .seconds(1))
                    fixture.wakes[.urgent].signal()
                    return try await fixture.progress(of: notification).state == .done
                }
                #expect(try await fixture.deliveries(of: notification).map(\.attempts) == [2])
            }
        }
    }
}
