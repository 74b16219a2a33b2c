package import Foundation
package import ProviderModel
package import PushStore
import PushSupport
package import PushTypes

// The operations of stores with default arguments.

extension DeviceStore {
    /// Returns the number of active devices in the audience, with tokens of any kind.
    package func count(app: Int64, audience: AudienceExpression, environment: PushEnvironment?) async throws -> Int {
        try await self.count(app: app, audience: audience, environment: environment, kind: nil)
    }

    /// Returns the number of active devices in each time zone, with tokens of any kind.
    package func timeZones(app: Int64) async throws -> [String?: Int] { try await self.timeZones(app: app, kind: nil) }
}

extension FileStore {
    /// Adds an upload to its app, which may have ``FileRecord/maximumOfApp`` files.
    package func addUpload(_ upload: UploadRecord, quota: Int?) async throws -> UploadAdditionResult {
        try await self.addUpload(upload, quota: quota, files: FileRecord.maximumOfApp)
    }
}

extension AppStore {
    /// Adds an app without settings.
    package func addApp(bundleID: Topic, name: String?, now: Timestamp) async throws -> (app: AppRecord, isNew: Bool) {
        try await self.addApp(bundleID: bundleID, AppChanges(name: name.map(Update.set)), now: now)
    }
}

extension NotificationStore where Self: AppStore {
    /// Returns the notifications of one app, or of all for `nil`, the newest first.
    package func notifications(
        app: Int64?,
        state: NotificationRecord.State?,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> (notifications: [NotificationRecord], next: NotificationCursor?) {
        let apps = if let app { [app] } else { try await self.apps().map(\.id) }
        var filter = NotificationFilter(apps: apps)
        filter.state = state
        let after = before.map { ListPosition(number: $0.number) }
        let page = try await self.notifications(filter, sort: .newest, after: after, limit: limit)
        return (page.entries, page.next.map { NotificationCursor(number: $0.number) })
    }
}

extension AuditStore {
    /// Returns all entries, the newest first, beginning before `before`.
    package func audit(before: Int64?, limit: Int) async throws -> [AuditRecord] {
        try await self.audit(AuditFilter(), before: before, limit: limit).entries
    }
}

extension NotificationStore {
    /// Returns a notification's deliveries with any reason.
    package func deliveries(
        of notification: UUID,
        state: DeliveryRecord.State?,
        after: Int64?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(of: notification, state: state, reason: nil, after: after, limit: limit)
    }
}

extension TimelineStore {
    /// Returns the deliveries of one device without a horizon.
    package func deliveries(
        app: Int64,
        device: Int64,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        let period = UserPeriod(device: device)
        return try await self.deliveries(app: app, period: period, before: before, horizon: nil, limit: limit)
    }

    /// Returns the deliveries of a token that is not registered without a horizon.
    package func deliveries(
        app: Int64,
        unregistered token: DeviceToken,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> [DeliveryRecord] {
        try await self.deliveries(
            app: app,
            unregistered: token,
            since: nil,
            before: before,
            horizon: nil,
            limit: limit
        )
    }

    /// Returns recipients that wait for a try, whoever had the device before.
    package func waiting(app: Int64, device: Int64?, token: DeviceToken, limit: Int) async throws -> [RecipientKey] {
        try await self.waiting(app: app, device: device, token: token, since: nil, limit: limit)
    }
}

extension DispatchStore {
    /// Returns notifications of all apps that are due to be opened.
    package func due(now: Timestamp, limit: Int) async throws -> [NotificationRecord] {
        try await self.due(now: now, limit: limit, excluding: [])
    }

    /// Returns the time at which the next scheduled notification of any app is to be opened.
    package func nextOpening() async throws -> Timestamp? { try await self.nextOpening(excluding: []) }

    /// Returns the next due time where both clocks agree. Without `after` it may be in the past.
    package func nextDue(
        lane: NotificationRecord.Lane,
        after: Timestamp = Timestamp(milliseconds: .min)
    ) async throws -> Timestamp? {
        try await self.nextDue(lane: lane, after: after, at: ClockReading(Timestamp(milliseconds: 0)))
    }

    /// Claims shards where both clocks agree.
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

extension ScheduleStore {
    /// Adds a schedule within the default limits.
    @discardableResult
    package func addSchedule(_ schedule: ScheduleRecord) async throws -> ScheduleChangeResult {
        try await self.addSchedule(schedule, limits: ScheduleLimits())
    }

    /// Changes a schedule within the default limits.
    @discardableResult
    package func changeSchedule(_ id: UUID, _ change: ScheduleChange) async throws -> ScheduleChangeResult {
        try await self.changeSchedule(id, change, limits: ScheduleLimits())
    }

    /// Returns the schedules of all apps that are due.
    package func dueSchedules(
        now: Timestamp,
        limit: Int
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String]) {
        try await self.dueSchedules(now: now, limit: limit, excluding: [])
    }

    /// Returns the time of the next run of any schedule.
    package func nextScheduleRun() async throws -> Timestamp? { try await self.nextScheduleRun(excluding: []) }
}

extension DispatchStore {
    /// Stores a notification in a transaction of its own.
    package func accept(
        _ notification: NotificationRecord,
        shards: [ShardPlan],
        idempotency: Idempotency?,
        scheduleVersion: Int64? = nil
    ) async throws -> Acceptance {
        let request = AcceptanceRequest(
            notification,
            shards: shards,
            idempotency: idempotency,
            scheduleVersion: scheduleVersion
        )
        let time = notification.createdAt
        let results = try await self.write(LedgerBatch(requests: [request]), now: time, leaseUntil: time)
        guard let result = results.requests.first else { throw StoreError.cannotWrite(why: "there is no result") }
        return try result.get().acceptance
    }
}
