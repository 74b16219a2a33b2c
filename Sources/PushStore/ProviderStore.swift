package import Foundation
package import PushSupport
package import PushTypes

/// Everything that a provider must remember. What a method has written is on disk when it returns.
package protocol ProviderStore: AppStore, DeviceStore, NotificationStore, DispatchStore, TokenStateStore, BadgeStore,
    ScheduleStore, WebhookStore, APIKeyStore, ProviderTokenStore, AuditStore, MaintenanceStore, ClockStore
{}

/// Apps and what they prove themselves with.
package protocol AppStore: Sendable {
    /// The app, and whether it is new.
    func addApp(bundleID: Topic, name: String?, now: Timestamp) async throws -> (app: AppRecord, isNew: Bool)
    /// In the order of their bundle ids.
    func apps() async throws -> [AppRecord]
    func app(bundleID: Topic) async throws -> AppRecord?
    func app(id: Int64) async throws -> AppRecord?
    func setRate(_ rate: Int?, app: Int64) async throws
    /// Replaces the one that was there; what was proven with it is forgotten.
    func setCredential(_ credential: CredentialRecord, app: Int64, environment: PushEnvironment) async throws
    /// Whether there was one.
    func removeCredential(app: Int64, environment: PushEnvironment) async throws -> Bool
    func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord?
    /// The environments for which the app has a credential.
    func environments(app: Int64) async throws -> Set<PushEnvironment>
}

/// Devices: one per app, environment and token, and one per app, environment and installation.
package protocol DeviceStore: Sendable {
    /// Adds the devices or refreshes them, in one transaction; what a registration leaves out stays as it was.
    func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult]
    /// In the order of their ids, those after `after`; inactive ones too. Those that cannot be read are left out, and there
    /// are fewer than `limit` only when no more follow.
    /// - Parameter environment: only those of this one; `nil` for all.
    func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord]
    /// The devices with this token: one per environment at most.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// How many there were, with those that cannot be read.
    func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> Int
    /// Active devices for which the expression holds.
    func count(app: Int64, audience: AudienceExpression, environment: PushEnvironment?) async throws -> Int
    /// The time zones of active devices, with how many there are in each; `nil` stands for those that say none.
    func timeZones(app: Int64) async throws -> [String?: Int]
}

extension DeviceStore {
    /// As ``devices(app:audience:environment:after:limit:)``, in all environments.
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.devices(app: app, audience: audience, environment: nil, after: after, limit: limit)
    }
}

/// The ledger as people see it: notifications and their recipients' final states.
package protocol NotificationStore: Sendable {
    /// - Parameters:
    ///   - shards: what it is split into; empty for one that is opened later.
    ///   - scheduleVersion: of the schedule that it is a run of. It is accepted only if the schedule is still there, not
    ///     paused, and of this version; `nil` leaves the schedule out.
    func accept(
        _ notification: NotificationRecord,
        shards: [ShardPlan],
        idempotency: Idempotency?,
        scheduleVersion: Int64?
    ) async throws -> Acceptance
    /// What was accepted with this key: ``Acceptance/repeated(_:)`` or, for another request, ``Acceptance/conflict``;
    /// `nil` if the key is new.
    func accepted(_ idempotency: Idempotency, app: Int64) async throws -> Acceptance?
    func notification(_ id: UUID) async throws -> NotificationRecord?
    /// Of this app, or of all; newest first, those before `before`. Those that cannot be read are left out.
    func notifications(
        app: Int64?,
        state: NotificationRecord.State?,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> (notifications: [NotificationRecord], next: NotificationCursor?)
    /// Pauses, resumes or cancels. `nil` if there is none; unchanged if it cannot go to that state from where it is. What
    /// waits for another try when it is cancelled is due at once, to be ended.
    /// - Throws: ``DamagedRow`` if what is stored of it cannot be read: it is paused or cancelled all the same.
    func setState(_ change: StateChange, of notification: UUID, now: Timestamp) async throws -> NotificationRecord?
    /// In the order of recipients, those after `after`.
    func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// What this notification came to for this recipient.
    func delivery(of notificationPrefix: DeliveryPrefix, recipient: Int64) async throws -> DeliveryRecord?
    /// The oldest of the next `campaigns` campaigns before `before`; `nil` where there are no more than these.
    func horizon(app: Int64, before: NotificationCursor?, campaigns: Int) async throws -> NotificationCursor?
    /// Returns the deliveries of one device, the newest notification first, those before `before` and not before `horizon`.
    func deliveries(
        app: Int64,
        device: Int64,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// The same for a token that is not registered.
    func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        before: NotificationCursor?,
        horizon: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord]
    /// Forgets notifications that ended before this, their deliveries, and token events as old: `limit` rows at most, so
    /// that nothing else waits long. How many rows it were; 0 when there is nothing left to forget.
    func forget(before: Timestamp, limit: Int) async throws -> Int
}

extension NotificationStore {
    /// As ``accept(_:shards:idempotency:scheduleVersion:)``, for what is no run of a schedule.
    package func accept(
        _ notification: NotificationRecord,
        shards: [ShardPlan],
        idempotency: Idempotency?
    ) async throws -> Acceptance {
        try await self.accept(notification, shards: shards, idempotency: idempotency, scheduleVersion: nil)
    }

    /// As ``deliveries(app:device:before:horizon:limit:)``, however old they are.
    package func deliveries(
        app: Int64,
        device: Int64,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(app: app, device: device, before: before, horizon: nil, limit: limit)
    }

    /// As ``deliveries(app:unregistered:before:horizon:limit:)``, however old they are.
    package func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(app: app, unregistered: token, before: before, horizon: nil, limit: limit)
    }
}

/// Where a list of notifications goes on; its meaning belongs to the store.
package struct NotificationCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

/// What somebody asks of a notification.
package enum StateChange: Hashable, Sendable {
    case pause(reason: String?)
    case resume
    case cancel
}

/// The first 60 free bits of a notification's id, with which the `apns-id`s of its deliveries begin; unique in the store.
package struct DeliveryPrefix: Hashable, Sendable {
    package let bits: Int64

    package init(bits: Int64) {
        self.bits = bits
    }

    package init(of notification: UUID) {
        let bytes = notification.uuid
        let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        // The four bits between are the version of the UUID.
        self.bits = high << 12 | Int64(bytes.6 & 0x0f) << 8 | Int64(bytes.7)
    }
}

/// The ledger as the dispatcher works on it.
package protocol DispatchStore: Sendable {
    /// For the start of the only process that uses the store: ends every lease, and queues what at-most-once had
    /// begun, to be ended as ``EndedRetry/Cause/interrupted``. How many recipients that were.
    func recover(now: Timestamp) async throws -> Int
    /// Notifications whose time has come, to be opened. One that cannot be read is paused, here and in what follows: it
    /// would stand in the way of all others.
    /// - Parameter excluded: apps whose notifications are left out.
    func due(now: Timestamp, limit: Int, excluding excluded: Set<Int64>) async throws -> [NotificationRecord]
    /// Splits a scheduled notification, so that it can be claimed.
    func open(_ notification: UUID, shards: [ShardPlan], recipients: Int, now: Timestamp) async throws
    /// Shards that may be sent now, leased until `until` of the steady clock: of different notifications where there are
    /// several, so that none waits for another to end.
    func claim(
        lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [ShardClaim]
    /// The next recipients after the shard's cursor.
    func page(_ claim: ShardClaim, limit: Int, needs: RecipientNeeds) async throws -> RecipientPage
    /// Recipients of one app, the one that waits longest, whose next try is due, leased until `until`; of a notification that was cancelled, those that are over.
    func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter,
        needs: @Sendable @escaping (NotificationRecord) -> RecipientNeeds
    ) async throws -> [RetryClaim]
    /// When the next retry or shard of the lane is due by the steady clock, of those that are due later than `after`; a
    /// shard that is leased does not count.
    func nextDue(
        lane: NotificationRecord.Lane,
        after: Timestamp,
        at clocks: ClockReading
    ) async throws -> Timestamp?
    /// When the next scheduled notification is to be opened, of apps that are not excluded.
    func nextOpening(excluding excluded: Set<Int64>) async throws -> Timestamp?
    /// Writes that the recipients of a page are being sent to, before they are. The lease is kept.
    func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage
    /// Writes what pages came to in one transaction. A recipient that has a final state already keeps it.
    ///
    /// A page is written only under the lease that its claim gave, and only if the shard's cursor stands where its step
    /// began.
    func commit(_ pages: [PageResult], now: Timestamp) async throws -> [CommitResult]
}

extension DispatchStore {
    /// As ``due(now:limit:excluding:)``, of all apps.
    package func due(now: Timestamp, limit: Int) async throws -> [NotificationRecord] {
        try await self.due(now: now, limit: limit, excluding: [])
    }

    /// As ``nextOpening(excluding:)``, of all apps.
    package func nextOpening() async throws -> Timestamp? { try await self.nextOpening(excluding: []) }

    /// As ``nextDue(lane:after:at:)``, where both clocks agree; without `after` of all: it may be due already.
    package func nextDue(
        lane: NotificationRecord.Lane,
        after: Timestamp = Timestamp(milliseconds: .min)
    ) async throws -> Timestamp? {
        try await self.nextDue(lane: lane, after: after, at: ClockReading(Timestamp(milliseconds: 0)))
    }

    /// As ``claim(lane:at:until:limit:from:)``, where both clocks agree.
    package func claim(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter = ClaimFilter()
    ) async throws -> [ShardClaim] {
        try await self.claim(lane: lane, at: ClockReading(now), until: until, limit: limit, from: filter)
    }
}

/// Badge counts, kept per user; a device without a user has its own.
package protocol BadgeStore: Sendable {
    /// The counts that a notification shows: each changed by `increment` once, however often this is asked.
    func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [String]
    ) async throws -> [String: Int]
    func badge(app: Int64, holder: String) async throws -> Int
    func setBadge(_ count: Int, app: Int64, holder: String) async throws
}

/// API keys, by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Ends a key, unless it is the only one with the scope `admin`: two of those that end each other at the same time
    /// leave one.
    func deleteKey(_ id: UUID) async throws -> KeyDeletion
}

/// Who changed what.
package protocol AuditStore: Sendable {
    /// The entry's id.
    @discardableResult
    func addAudit(_ entry: AuditRecord) async throws -> Int64
    /// Writes how many requests an entry stands for by now.
    func setAuditCount(_ count: Int, of id: Int64) async throws
    /// Newest first, those before `before`.
    func audit(before: Int64?, limit: Int) async throws -> [AuditRecord]
    /// Forgets what is older than this, `limit` entries at most. How many it were.
    func forgetAudit(before: Timestamp, limit: Int) async throws -> Int
}
