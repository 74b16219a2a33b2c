import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/notifications`, which show and change notifications in the ledger and list their deliveries.
struct NotificationsController: Controller {
    let store: any AppStore & DeviceStore & NotificationStore
    let wakes: LaneWakeSignals
    /// The queue of pushes in memory. A pause or cancellation removes the notification's pushes from it.
    let direct: DirectDispatch
    let outcomes: OutcomeSignals
    let faults: ConfigurationFaultTracker
    let waits: HeldWaveRegistry
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let path = "/v1/notifications/{notification}"
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showNotification", "A notification and its progress.", self.show)
                .responses(.ok(NotificationResponse.schema)),
            .init(.get, "\(path)/deliveries", id: "listDeliveries", self.deliveries)
                .summary("The deliveries of the notification.").cost(.query)
                .parameters(
                    .query("state", "In this state.", .choice(DeliveryResponse.states)),
                    .query("reason", "With exactly this reason.", .string(length: 1...300)),
                    .cursor,
                    .limit()
                )
                .responses(.ok(.page("deliveries", of: DeliveryResponse.schema))).reservingPage(ofEntries: 256),
        ]
        return operations.map { $0.tag(.notifications).scope(.read) } + [
            self.change("pause", "Stops the notification: only what is underWay is still sent.", .pause(reason: nil)),
            self.change("resume", "Continues a paused notification.", .resume),
            self.change("cancel", "Stops the notification for good: only what is underWay is still sent.", .cancel),
        ]
    }

    private func change(_ name: String, _ summary: String, _ change: StateChange) -> ProviderOperation {
        .init(.post, "/v1/notifications/{notification}:\(name)", .audited, id: "\(name)Notification", summary) {
            try await self.set(change, name, $0)
        }
        .tag(.notifications).scope(.send).responses(.ok(NotificationResponse.schema)).errors(.conflict)
    }

    /// Responds with a notification, including its audience and content, which lists omit.
    private func show(_ request: OperationRequest) async throws -> Response {
        let detail = try await request.object("notification") { try await self.store.detail(of: $0) }
        let notification = detail.notification
        var response = try await self.response(notification)
        response.audience = notification.audience
        response.content = ContentResponse(notification.content)
        if notification.progress.skipped > 0 {
            response.skipped = detail.skipCounts.map { SkippedRecipients(reason: $0.reason, count: $0.count) }
        }
        if notification.content.receipts != .none {
            response.receiptCounts = ReceiptCountResponse.list(detail.receiptCounts)
        }
        return try .json(response)
    }

    /// Changes the state of a notification, and wakes the dispatcher. Responds with 409 if the current state does not
    /// allow the change.
    private func set(_ change: StateChange, _ name: String, _ request: OperationRequest) async throws -> Response {
        let after = try await request.object("notification") { try await self.changed($0, change) }
        guard change.isDone(in: after) else {
            let message = "it is \(after.state.rawValue): \(name) is not possible"
            throw RequestError.conflict("wrong_state", message, at: "notification")
        }
        guard change != .resume else {
            self.wakes[after.lane].signal()
            self.outcomes.signal(after.id)
            return try .json(try await self.response(after))
        }
        let underWay = self.direct.apply(.notification(after.id)).count
        self.wakes[after.lane].signal()
        self.outcomes.signal(after.id)
        // The notification is read after the pushes in flight are counted, so that a push that completes in between is
        // in one of the two. A state that a later request has set is not returned for this one.
        let latest = try await self.store.notification(after.id) ?? after
        var response = try await self.response([after.state, .done].contains(latest.state) ? latest : after)
        response.underWay = underWay
        return try .json(response)
    }

    /// Changes the state of a notification, and returns the changed record, or `nil` if there is no such notification.
    /// - Throws: ``RequestError`` if the record of the notification is damaged. The message names the change's effect.
    private func changed(_ id: UUID, _ change: StateChange) async throws -> NotificationRecord? {
        do {
            return try await self.store.setState(change, of: id, now: self.time.recorded)
        } catch is DamagedRow {
            if change != .resume { _ = self.direct.apply(.notification(id)) }
            let message = "its record is damaged, see 'martlet check': \(change.effectOnDamagedRow)"
            throw RequestError.conflict("unreadable", message, at: "notification")
        }
    }

    private func deliveries(_ request: OperationRequest) async throws -> Response {
        let notification = try await request.object("notification") { try await self.store.notification($0) }
        let page = try request.page(.deliveries)
        let state = try request.value(
            "state",
            { name in DeliveryRecord.State.allCases.first { $0.word == name } },
            orThrow: .invalid("state", "use one of \(DeliveryResponse.states.joined(separator: ", "))")
        )
        let deliveries = try await self.store.deliveries(
            of: notification.id,
            state: state,
            reason: try request.text("reason", maximum: 300),
            after: page.after,
            limit: page.limit
        )
        let next = page.next(after: deliveries, \.recipient)
        return try .page("deliveries", deliveries.map(DeliveryResponse.init), next: next)
    }

    private func response(_ notification: NotificationRecord) async throws -> NotificationResponse {
        let app = try await self.store.app(id: notification.app)
        var response = NotificationResponse(notification: notification, app: app?.bundleID, clocks: self.time.reading)
        response.steered = self.waits.wait(of: notification.id, now: self.time.steady)
        response.firstStart = try await NotificationForecast.firstStart(of: notification, in: self.store)
        if let app, notification.progress.finishedAt == nil {
            let environments = notification.environment.map { [$0] } ?? PushEnvironment.allCases
            let states = try await EnvironmentResponse.faulty(app, environments, self.faults)
            if !states.isEmpty { response.environments = states }
            response.stop = try await self.store.stop(of: app.id).map { AppStopResponse(stop: $0) }
        }
        return response
    }
}

extension StateChange {
    /// Returns whether `notification` is in a state to which this change leads, so that the request succeeds.
    fileprivate func isDone(in notification: NotificationRecord) -> Bool {
        switch self {
        case .pause: notification.state == .paused
        // A notification that completed while it was paused has nothing left to send.
        case .resume: [.scheduled, .accepted, .sending, .done].contains(notification.state)
        case .cancel: notification.state == .cancelled
        }
    }

    /// The effect of the change on a notification whose record is damaged, for an error message.
    fileprivate var effectOnDamagedRow: String {
        switch self {
        case .pause: "it is paused, unless it had ended"
        case .resume: "it cannot continue, cancel it"
        case .cancel: "it is cancelled, unless it had ended"
        }
    }
}
