import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of receipts. After each test the counters are compared with the ledger, by the store's own rules.
@Suite(.timeLimit(.patience)) struct ReceiptContract: StoreContract {
    private static let installation = "installation-1"

    /// Returns the batch of an installation.
    private func batch(
        _ receipts: [(UUID, IncomingReceipt)],
        app: Topic? = Topic(Vectors.bundleID),
        privacy: ReceiptLevel = .device,
        from installation: String = ReceiptContract.installation
    ) throws -> ReceiptBatch {
        ReceiptBatch(
            from: .installation(installation, of: try #require(app)),
            privacy: privacy,
            receipts.map { .init($0.1, of: .notification($0.0)) }
        )
    }

    private func receipt(_ event: ReceiptEvent, action: String? = nil, id: UUID = UUID(), at: Timestamp? = nil)
        -> IncomingReceipt
    {
        IncomingReceipt(id: id, event: event, action: action, at: at ?? self.now)
    }

    private func add(
        _ store: any ProviderStore,
        _ batches: ReceiptBatch...,
        now: Timestamp? = nil
    ) async throws -> [[ReceiptResult]] {
        try await store.addReceipts(batches, now: now ?? self.now) { _ in Data() }.results
    }

    /// Runs a test with a campaign in progress to the device of an installation.
    private func withCampaign(
        _ backend: StoreBackend,
        _ privacy: ReceiptLevel = .device,
        _ body: (any ProviderStore, Int64, NotificationRecord, _ device: Int64) async throws -> Void
    ) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app) { $0.installation = Self.installation }
            let notification = try await store.start(app: app) { $0.content.receipts = privacy }
            try await body(store, app, notification, device)
        }
    }

    private func end(_ store: any ProviderStore, accepts: Bool = true) async throws {
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 100)
        try await store.commit(claim) { page in
            page.step = .last(claim)
            page.deliveries = recipients.map { .fixture($0, accepts ? .accepted : .rejected) }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRepeatedReceiptCountsOnce(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, device in
            let id = notification.id
            let (shown, opened) = (self.receipt(.shown), self.receipt(.opened))
            let batch = try self.batch([(id, shown), (id, opened), (id, shown)])
            #expect(try await self.add(store, batch) == [[.accepted, .accepted, .repeated]])
            #expect(
                try await self.add(store, batch, batch) == [
                    [.repeated, .repeated, .repeated], [.repeated, .repeated, .repeated],
                ]
            )
            let again = try self.batch([(id, self.receipt(.opened))])
            #expect(try await self.add(store, again) == [[.accepted]])
            let counts = try await store.receiptCounts(of: id)
            #expect(
                counts == [
                    ReceiptCount(event: .shown, unique: 1, total: 1), ReceiptCount(event: .opened, unique: 1, total: 2),
                ]
            )
            try await self.end(store)
            let deliveries = try await store.deliveries(of: id, state: nil, after: nil, limit: 10)
            #expect(deliveries.first?.receipts.map(\.event) == [.shown, .opened, .opened])
            #expect(deliveries.first?.receipts.map(\.device) == [device, device, device])
        }
    }

    @Test(arguments: StoreBackend.available)
    func actionsAreCountedByName(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let id = notification.id
            let names = ["REPLY", "LIKE", "REPLY"].map { (id, self.receipt(.action, action: $0)) }
            let conversion = (id, self.receipt(.converted))
            _ = try await self.add(store, self.batch(names + [conversion]))
            let counts = try await store.receiptCounts(of: id)
            #expect(
                counts == [
                    ReceiptCount(event: .action, unique: 1, total: 3),
                    ReceiptCount(event: .action, action: "LIKE", unique: 1, total: 1),
                    ReceiptCount(event: .action, action: "REPLY", unique: 1, total: 2),
                    ReceiptCount(event: .converted, unique: 1, total: 1),
                ]
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsTooManyIsBounded(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let many = (0..<ReceiptLimits.perEvent + 1).map { _ in (notification.id, self.receipt(.opened)) }
            let results = try await self.add(store, self.batch(many))[0]
            #expect(results.count { $0 == .accepted } == ReceiptLimits.perEvent)
            #expect(results.last == .refused(.tooMany))
            // Names beyond the bound are counted with the event only.
            for installation in 0..<4 {
                try await store.register(10 + installation, app: app) { $0.installation = "other-\(installation)" }
                let actions = (0..<ReceiptLimits.perEvent).map {
                    (notification.id, self.receipt(.action, action: "A\(installation).\($0)"))
                }
                let batch = try self.batch(actions, from: "other-\(installation)")
                #expect(try await self.add(store, batch)[0].allSatisfy { $0 == .accepted })
            }
            let counts = try await store.receiptCounts(of: notification.id).filter { $0.event == .action }
            #expect(counts.count == ReceiptLimits.actions + 1)
            #expect(counts.first == ReceiptCount(event: .action, unique: 4, total: 80))
        }
    }

    /// A receipt may come before the page's commit; once the notification has ended, the ledger decides.
    @Test(arguments: StoreBackend.available)
    func onlyRecipientsHaveReceipts(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let refused: [[ReceiptResult]] = [[.refused(.unknownNotification)]]
            func opened(_ installation: String, app: String = Vectors.bundleID) throws -> ReceiptBatch {
                try self.batch([(notification.id, self.receipt(.opened))], app: Topic(app), from: installation)
            }
            #expect(try await self.add(store, opened("no-such-installation")) == refused)
            #expect(try await self.add(store, opened(Self.installation, app: "com.example.Other")) == refused)
            let unknown = try self.batch([(UUID(), self.receipt(.opened))])
            #expect(try await self.add(store, unknown) == refused)
            try await store.register(5, app: app) {
                ($0.installation, $0.kind) = ("voip-only", .voip)
            }
            let alert = try await store.start(app: app) {
                ($0.content.receipts, $0.content.tokenKind) = (.device, .alert)
            }
            let voip = try self.batch([(alert.id, self.receipt(.opened))], from: "voip-only")
            #expect(try await self.add(store, voip) == refused)
            _ = try await store.setState(.cancel, of: alert.id, now: self.now)
            #expect(try await self.add(store, opened(Self.installation)) == [[.accepted]])
            try await self.end(store)
            try await store.register(6, app: app) { $0.installation = "came-later" }
            #expect(try await self.add(store, opened("came-later")) == refused)
            #expect(try await self.add(store, opened(Self.installation)) == [[.accepted]])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectedPushHasNoReceipts(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            try await self.end(store, accepts: false)
            let batch = try self.batch([(notification.id, self.receipt(.opened))])
            #expect(try await self.add(store, batch) == [[.refused(.unknownNotification)]])
        }
    }

    /// The ledger decides before the end of the notification too, once it has the device.
    @Test(arguments: StoreBackend.available, [DeliveryRecord.State.rejected, .skipped, .failed, .accepted, .unknown])
    func theLedgerDecidesWhileANotificationIsOpen(backend: StoreBackend, state: DeliveryRecord.State) async throws {
        try await self.withCampaign(backend) { store, app, notification, device in
            try await store.register(2, app: app) { $0.installation = "other" }
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 1)
            try await store.commit(claim) { page in
                page.deliveries = recipients.prefix(1).map { .fixture($0, state) }
            }
            #expect(try await store.notification(notification.id)?.progress.finishedAt == nil)
            let opened = try self.batch([(notification.id, self.receipt(.opened))])
            let arrived = [DeliveryRecord.State.accepted, .unknown].contains(state)
            let result: ReceiptResult = arrived ? .accepted : .refused(.unknownNotification)
            #expect(try await self.add(store, opened) == [[result]])
        }
    }

    /// Names that are equal to people are one name, in the counters and in their bound.
    @Test(arguments: StoreBackend.available)
    func namesInOtherNormalizationFormsAreOne(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            for forms in [["\u{E9}", "e\u{301}"], ["\u{212B}", "A\u{30A}"]] {
                for form in forms {
                    let batch = try self.batch([(notification.id, self.receipt(.action, action: form))])
                    #expect(try await self.add(store, batch) == [[.accepted]])
                }
                let both = forms.map { (notification.id, self.receipt(.action, action: $0)) }
                #expect(try await self.add(store, self.batch(both)) == [[.accepted, .accepted]])
            }
            let actions = try await store.receiptCounts(of: notification.id).filter { $0.action != nil }
            #expect(actions.map(\.total) == [4, 4] && actions.map(\.unique) == [1, 1])
        }
    }

    @Test(arguments: StoreBackend.available)
    func lateReceiptsCountForThirtyDays(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let opened = try self.batch([(notification.id, self.receipt(.opened))])
            try await self.end(store)
            let last = self.now.advanced(by: ReceiptLimits.latest)
            let late = last.advanced(by: .milliseconds(1))
            #expect(try await self.add(store, opened, now: late) == [[.refused(.tooLate)]])
            #expect(try await self.add(store, opened, now: last) == [[.accepted]])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aWrongClockIsBounded(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let times = [Timestamp(milliseconds: 0), Timestamp(milliseconds: .max)]
            let batch = try self.batch(times.map { (notification.id, self.receipt(.opened, at: $0)) })
            _ = try await self.add(store, batch, now: self.later)
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 10).receipts
            #expect(Set(receipts.map(\.at)) == [self.now, self.later])
            #expect(Set(receipts.map(\.receivedAt)) == [self.later])
        }
    }

    @Test(arguments: StoreBackend.available, [(ReceiptLevel.counts, ReceiptLevel.device), (.device, .counts)])
    func countsNameNoDevice(backend: StoreBackend, levels: (ReceiptLevel, ReceiptLevel)) async throws {
        try await self.withCampaign(backend, levels.0) { store, app, notification, _ in
            let shown = self.receipt(.shown, at: self.later)
            let batch = try self.batch([(notification.id, shown)], privacy: levels.1)
            #expect(try await self.add(store, batch, batch, now: self.later) == [[.accepted], [.repeated]])
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 10).receipts
            #expect(receipts.map(\.device) == [nil])
            #expect(receipts.allSatisfy { $0.subject < -(1 << 61) && $0.at.milliseconds % 3_600_000 == 0 })
            #expect(try await store.receiptCounts(of: notification.id).map(\.unique) == [1])
            try await self.end(store)
            let deliveries = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 10)
            #expect(deliveries.map(\.receipts) == [[]])
        }
    }

    /// An installation that changes its mind stays one installation.
    @Test(arguments: StoreBackend.available)
    func aStricterLevelTakesTheDeviceAway(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, device in
            let first = self.receipt(.opened)
            _ = try await self.add(store, self.batch([(notification.id, first)]))
            let second = try self.batch(
                [(notification.id, first), (notification.id, self.receipt(.opened))],
                privacy: .counts
            )
            #expect(try await self.add(store, second) == [[.repeated, .accepted]])
            let third = try self.batch([(notification.id, self.receipt(.opened))])
            #expect(try await self.add(store, third) == [[.accepted]])
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 10).receipts
            #expect(receipts.map(\.device) == [nil, nil, nil])
            #expect(receipts.allSatisfy { $0.subject != device })
            let counts = try await store.receiptCounts(of: notification.id)
            #expect(counts == [ReceiptCount(event: .opened, unique: 1, total: 3)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func withoutReceiptsNoneAreKept(backend: StoreBackend) async throws {
        try await self.withCampaign(backend, .none) { store, app, notification, _ in
            let results = try await self.add(
                store,
                try self.batch([(notification.id, self.receipt(.shown))])
            )
            #expect(results == [[.refused(.receiptsOff)]])
            let counts = try await store.receiptCounts(of: notification.id)
            #expect(counts == [])
        }
    }

    /// The gateway and the app report the same device, which is unique once.
    @Test(arguments: StoreBackend.available, [ReceiptLevel.device, .counts])
    func theGatewayReportsToo(backend: StoreBackend, privacy: ReceiptLevel) async throws {
        try await self.withCampaign(backend, privacy) { store, app, notification, device in
            let prefix = DeliveryPrefix(of: notification.id)
            func delivered(_ recipient: Int64) -> ReceiptBatch {
                let receipt = self.receipt(
                    .delivered,
                    id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
                )
                let entry = ReceiptBatch.Entry(receipt, of: .delivery(prefix, recipient: recipient))
                return ReceiptBatch(from: .gateway, privacy: .device, [entry])
            }
            #expect(try await self.add(store, delivered(device), delivered(device)) == [[.accepted], [.repeated]])
            let own = try self.batch([(notification.id, self.receipt(.delivered))])
            #expect(try await self.add(store, own) == [[.accepted]])
            let counts = try await store.receiptCounts(of: notification.id)
            #expect(counts == [ReceiptCount(event: .delivered, unique: 1, total: 2)])
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 10).receipts
            #expect(Set(receipts.map(\.source)) == [.app, .gateway])
            try await self.end(store)
            #expect(try await self.add(store, delivered(device + 1)) == [[.refused(.unknownNotification)]])
        }
    }

    @Test(arguments: StoreBackend.available)
    func pagesOfAListCutNothing(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            for installation in 0..<4 {
                let name = "installation-\(installation)"
                try await store.register(installation, app: app) { $0.installation = name }
                let receipts = ReceiptEvent.allCases.map { (notification.id, self.receipt($0)) }
                _ = try await self.add(store, self.batch(receipts, from: name))
            }
            var (place, all): (ReceiptPlace?, [ReceiptRecord]) = (nil, [])
            repeat {
                let page = try await store.receipts(of: notification.id, after: place, limit: 5)
                all += page.receipts
                place = page.next
            } while place != nil
            #expect(all.count == 24)
            #expect(Set(all.map { [$0.subject, $0.event.rawValue] }).count == 24)
        }
    }

    @Test(arguments: StoreBackend.available)
    func erasingAUserTakesTheDevicesAway(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app) {
                ($0.installation, $0.user) = (Self.installation, .set("alice"))
            }
            let notification = try await store.start(app: app) { $0.content.receipts = .device }
            let opened = [self.receipt(.opened), self.receipt(.shown)].map { (notification.id, $0) }
            _ = try await self.add(store, self.batch(opened))
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            let receipts = try await store.receipts(of: notification.id, after: nil, limit: 10).receipts
            #expect(receipts.count == 2)
            #expect(receipts.allSatisfy { $0.device == nil && $0.subject != device })
            #expect(Set(receipts.map(\.subject)).count == 1)
            #expect(receipts.allSatisfy { $0.at.milliseconds % 3_600_000 == 0 })
            #expect(try await store.receiptCounts(of: notification.id).map(\.unique) == [1, 1])
        }
    }

    @Test(arguments: StoreBackend.available, [1, 1000])
    func receiptsAreForgottenWithTheirNotification(backend: StoreBackend, limit: Int) async throws {
        try await self.withCampaign(backend) { store, app, notification, _ in
            let all = ReceiptEvent.allCases.map { (notification.id, self.receipt($0)) }
            _ = try await self.add(store, self.batch(all))
            try await self.end(store)
            while true {
                let count = try await store.forget(before: self.later, limit: limit)
                guard count > 0 else { break }
                #expect(count <= limit + 1)
            }
            #expect(try await store.notification(notification.id) == nil)
            // The store's rules find what remains of a notification that is gone.
        }
    }

    @Test(arguments: StoreBackend.available)
    func onlyWebhooksThatAskGetReceipts(backend: StoreBackend) async throws {
        try await self.withCampaign(backend) { store, app, notification, device in
            func write() async throws -> Bool {
                let batch = try self.batch([(notification.id, self.receipt(.opened))])
                return try await store.addReceipts([batch], now: self.now) { news in
                    #expect(news.map(\.record.device) == [device])
                    #expect(news.map(\.recipient) == [device])
                    #expect(news.map(\.token) == [.numbered(1)])
                    return Data(#"{"type":"receipt"}"#.utf8)
                }.hasEvents
            }
            #expect(!WebhookRecord.Event.standard.contains(.receipt))
            for events in [WebhookRecord.Event.standard, [.receipt]] {
                try await store.addWebhook(
                    WebhookRecord(
                        id: UUID(),
                        app: app,
                        url: "https://example.com",
                        secret: "secret",
                        events: events,
                        createdAt: self.now
                    )
                )
                #expect(try await write() == (events == [.receipt]))
            }
            let blocks = try await store.eventBlocks(app: app, kinds: [.receipt], after: 0, limit: 10)
            #expect(blocks.map(\.kind) == [.receipt])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theSettingOfAnAppIsStored(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await store.app(id: app)?.receipts == ReceiptLevel.none)
            for privacy in ReceiptLevel.allCases {
                _ = try await store.changeApp(app, AppChanges(receipts: privacy))
                #expect(try await store.app(id: app)?.receipts == privacy)
            }
            #expect(try await store.gatewayCursor("gateway") == nil)
            for cursor in [GatewayCursor(position: 7), .init(position: 9, at: self.now), .init(position: 0)] {
                try await store.setGatewayCursor(cursor, of: "gateway")
                #expect(try await store.gatewayCursor("gateway") == cursor)
            }
        }
    }
}
