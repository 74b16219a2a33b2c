package import Foundation
package import ProviderModel
package import PushStore
package import PushSupport
import PushTypes

/// Accepts notifications: plans those that are due, writes them into the ledger and wakes the dispatcher.
///
/// A notification that is not due, or whose recipients take long to count, is accepted as scheduled, and
/// ``NotificationOpener`` opens it later.
package struct NotificationAcceptor: Sendable {
    private let store: any AppStore & DeviceStore & DispatchStore & NotificationStore
    private let wakes: LaneWakeSignals
    private let budget: Duration
    private let time: any TimeSource
    private let planner: NotificationPlanner
    private let direct: DirectDispatch
    /// Opens accepted notifications without recipients, which completes them immediately.
    let opener: NotificationOpener

    /// Creates an acceptor.
    /// - Parameters:
    ///   - budget: The maximum time for which the caller waits for the count of its recipients, including the wait for
    ///     other counts. Default 5 s.
    ///   - direct: The direct dispatch of accepted notifications, or `nil` if the dispatcher finds all in the store.
    package init(
        store: any AppStore & DeviceStore & DispatchStore & NotificationStore,
        wakes: LaneWakeSignals,
        budget: Duration = .seconds(5),
        direct: DirectDispatch? = nil,
        time: any TimeSource
    ) {
        let opener = NotificationOpener(store: store, wakes: wakes, time: time)
        self.init(store: store, wakes: wakes, opener: opener, budget: budget, direct: direct, time: time)
    }

    /// Creates an acceptor with an opener, otherwise as ``init(store:wakes:budget:direct:time:)`` does.
    init(
        store: any AppStore & DeviceStore & DispatchStore & NotificationStore,
        wakes: LaneWakeSignals,
        opener: NotificationOpener,
        budget: Duration = .seconds(5),
        direct: DirectDispatch? = nil,
        time: any TimeSource
    ) {
        (self.store, self.wakes, self.budget, self.time) = (store, wakes, budget, time)
        self.planner = opener.planner
        self.direct = direct ?? DirectDispatch(store: store, time: time)
        self.opener = opener
    }

    /// Writes a notification, which is on disk when the method returns.
    ///
    /// It throws a ``RequestError`` for named tokens of another kind than the push requires, and for an audience
    /// without recipients if no device has a token of the required kind.
    /// - Parameters:
    ///   - id: The id of the notification. A run of a schedule always uses the same id.
    ///   - key: The API key of the request, or that of the schedule.
    ///   - idempotency: The key by which a repetition of the request is recognized and accepted only once.
    ///   - run: The run of a schedule that creates the notification, or `nil` for a request.
    ///   - acceptance: The arrival of the request, for its timeline.
    ///   - check: Called with the number of recipients (`nil` if it is unknown). It throws to refuse the notification.
    ///   - scheduleVersion: The version of the schedule from which the run was planned. The run is accepted only if the
    ///     schedule still has this version.
    ///   - issue: The issue that the notification announces. Both are linked in the same transaction.
    ///   - session: The chat session whose messages are announced. If it was removed, nothing is accepted.
    /// - Returns: The notification as it was written, and whether it was accepted, or why not.
    package func accept(
        _ request: NotificationRequest,
        app: Int64,
        id: UUID = .random(),
        key: KeyReference? = nil,
        idempotency: Idempotency? = nil,
        run: ScheduleRun? = nil,
        scheduleVersion: Int64? = nil,
        issue: UUID? = nil,
        session: UUID? = nil,
        acceptance received: AcceptanceRecord = AcceptanceRecord(),
        check: (Int?) throws -> Void = { _ in }
    ) async throws -> (notification: NotificationRecord, acceptance: Acceptance) {
        let clocks = self.time.reading
        let now = clocks.wall
        var record = NotificationRecord(
            id: id,
            app: app,
            content: request.content,
            audience: request.audience,
            environment: request.environment,
            guarantee: request.guarantee,
            lane: request.lane,
            delivery: request.delivery,
            pace: request.pace,
            createdAt: now,
            startsAt: request.delivery?.earliestStart(acceptedAt: now),
            state: .accepted
        )
        (record.name, record.key, record.run) = (request.name, key, run)
        (record.resendOf, record.consent) = (request.resendOf, request.consent)
        record.acceptance = received
        record.acceptance.warnings = request.warnings.map { "\($0.field): \($0.message)" }
        var plan: NotificationPlanner.Plan?
        if record.startsAt <= now {
            plan = try await self.planner.quickPlan(record, within: self.budget)
            if plan?.recipients == 0, let kind = try await self.store.missingKind(for: record.content, app: app) {
                throw RequestError.noTokenOfKind(kind)
            }
        }
        try check(plan?.recipients)
        // A notification without recipients has no page that would end it, so that it is ended by opening it.
        let isEmpty = plan.map { $0.recipients == 0 || $0.shards.isEmpty } ?? false
        if let plan, !isEmpty { record.progress.recipients = plan.recipients } else { record.state = .scheduled }
        let acceptance = try await self.write(
            AcceptanceRequest(
                record,
                shards: isEmpty ? [] : plan?.shards ?? [],
                idempotency: idempotency,
                scheduleVersion: scheduleVersion,
                issue: issue,
                session: session,
                openedAt: clocks.later
            )
        )
        if case .tokenOfOtherKind(let token, let kind) = acceptance, let wanted = record.content.tokenKind {
            throw RequestError.tokenOfOtherKind(kind, wanted: wanted, position: request.position(of: token))
        }
        if isEmpty, acceptance == .accepted {
            try await self.opener.open(record)
            record = try await self.store.notification(record.id) ?? record
            self.wakes[record.lane].signal()
        }
        return (record, acceptance)
    }

    /// Writes a notification in a batch with others, and hands it to the dispatcher.
    private func write(_ new: AcceptanceRequest) async throws -> Acceptance {
        var request = new
        let place = new.shards.isEmpty ? nil : self.direct.place(for: new.notification)
        request.isClaimed = place != nil
        do {
            let result = try await self.direct.ledger.accept(request, in: place?.memory)
            if let place, let claimed = result.claimed {
                await self.direct.start(claimed, from: place)
            } else {
                if let place { self.direct.leave(place) }
                self.wakes[new.notification.lane].signal()
            }
            return result.acceptance
        } catch {
            if let place { self.direct.leave(place) }
            throw error
        }
    }

    /// Returns whether a notification has no recipients now, or `nil` if counting takes longer than a second.
    package func reachesNobody(_ notification: NotificationRecord) async throws -> Bool? {
        try await self.planner.recipients(of: notification, within: .seconds(1)).map { $0 == 0 }
    }
}

extension RequestError {
    /// Returns the error for a named token that is registered with another kind than the push requires.
    /// - Parameter position: The position of the token in the request.
    fileprivate static func tokenOfOtherKind(_ kind: DeviceTokenKind, wanted: DeviceTokenKind, position: Int)
        -> RequestError
    {
        RequestError(
            .conflict,
            code: "token_of_other_kind",
            message: """
                the token is registered with the kind \(kind.rawValue), and this push goes to tokens of the kind \
                \(wanted.rawValue): name one of those, or register the token with the kind that it has
                """,
            path: "to.tokens[\(position)]"
        )
    }

    /// Returns the error for an audience without recipients if no device has a token of the required kind.
    fileprivate static func noTokenOfKind(_ kind: DeviceTokenKind) -> RequestError {
        RequestError(.conflict, code: "no_token_of_kind", message: Self.lack(of: kind), path: "pushType")
    }

    /// Returns the message that no device has a token of a kind, with the remedy.
    fileprivate static func lack(of kind: DeviceTokenKind) -> String {
        "no active device of the app has a token of the kind \(kind.rawValue): register one with that kind"
    }
}

extension DeviceStore where Self: AppStore {
    /// Returns the kind of tokens that a notification requires if no device has such a token, or `nil` if one has.
    ///
    /// For an app without devices it returns `nil` if the kind is alert.
    fileprivate func missingKind(for content: NotificationContent, app: Int64) async throws -> DeviceTokenKind? {
        guard let kind = content.tokenKind else { return nil }
        let found = try await self.countingQuickly(app: app, within: .seconds(1)) {
            try await self.tokenKinds(app: app)
        }
        // The kinds could not be read in time. As there are no recipients, no more time is spent on the error.
        guard let kinds = found else { return nil }
        return kinds.contains(kind) || kind == .alert && kinds.isEmpty ? nil : kind
    }
}

extension ContentWarning {
    /// Returns the warning that no device has a token of the kind that the notification requires, or `nil` if a device
    /// has one. Devices may still register one before the notification is sent.
    package static func missingTokens(
        for request: NotificationRequest,
        app: Int64,
        in store: any AppStore & DeviceStore
    ) async throws -> ContentWarning? {
        guard case .devices = request.audience else { return nil }
        let kind = try await store.missingKind(for: request.content, app: app)
        return kind.map { ContentWarning(field: "pushType", message: RequestError.lack(of: $0)) }
    }
}
