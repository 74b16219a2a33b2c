import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/notifications`: notifications in the ledger, their progress, state changes and deliveries.
struct NotificationsController: Controller {
    let store: any ProviderStore
    let wakes: LaneWakeSignals
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let state = ParameterDescription.query("state", "In this state.", .choice(of: NotificationRecord.State.self))
        let filters = [state, .cursor, .limit()]
        return [
            .init(
                .get,
                "/v1/apps/{app}/notifications",
                id: "listAppNotifications",
                "An app's notifications, newest first."
            ) {
                try await self.list($0, app: try await $0.app(self.store))
            }
            .tag(.notifications).scope(.read).parameters(filters)
            .responses(.ok(.page("notifications", of: NotificationResponse.schema))),
            .init(.get, "/v1/notifications", id: "listNotifications", "All apps' notifications, newest first.") {
                try await self.list($0, app: nil)
            }
            .tag(.notifications).scope(.read).parameters(filters)
            .responses(.ok(.page("notifications", of: NotificationResponse.schema))),
            .init(
                .get,
                "/v1/notifications/{notification}",
                id: "showNotification",
                "A notification and its progress.",
                self.show
            )
            .tag(.notifications).scope(.read).responses(.ok(NotificationResponse.schema)),
            self.change("pause", "Stops the notification after the pages in flight.", .pause(reason: nil)),
            self.change("resume", "Continues a paused notification.", .resume),
            self.change("cancel", "Stops the notification for good.", .cancel),
            .init(
                .get,
                "/v1/notifications/{notification}/deliveries",
                id: "listDeliveries",
                "The deliveries of the notification.",
                self.deliveries
            )
            .tag(.notifications).scope(.read).cost(.query)
            .parameters(.query("state", "In this state.", .choice(DeliveryResponse.states)), .cursor, .limit())
            .responses(.ok(.page("deliveries", of: DeliveryResponse.schema))),
        ]
    }

    /// Returns the operation that changes the state of a notification.
    private func change(_ name: String, _ summary: String, _ change: StateChange) -> ProviderOperation {
        .init(.post, "/v1/notifications/{notification}:\(name)", .audited, id: "\(name)Notification", summary) {
            try await self.set(change, name, $0)
        }
        .tag(.notifications).scope(.send).responses(.ok(NotificationResponse.schema)).errors(.conflict)
    }

    /// Lists the notifications of one app; of all apps for `nil`.
    private func list(_ request: OperationRequest, app: AppRecord?) async throws -> Response {
        let page = try request.page(.notifications)
        let (notifications, next) = try await self.store.notifications(
            app: app?.id,
            state: try request.choice("state", NotificationRecord.State.self),
            before: page.after.map(NotificationCursor.init(number:)),
            limit: page.limit
        )
        var names: [Int64: Topic] = [:]
        if let app {
            names[app.id] = app.bundleID
        } else {
            for app in try await self.store.apps() { names[app.id] = app.bundleID }
        }
        let now = self.time.now
        return try .json(
            ListResponse(
                "notifications",
                notifications.map { NotificationResponse($0, app: names[$0.app], now: now) },
                next: next.map { Cursor(list: .notifications, position: $0.number).text }
            )
        )
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let notification = try await self.notification(request)
        var response = try await self.response(notification)
        response.to = notification.audience.json
        return try .json(response)
    }

    /// Changes the state, and wakes the dispatcher. It fails with 409 if the present state does not allow the change.
    private func set(_ change: StateChange, _ name: String, _ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("notification"), let after = try await self.changed(id, change) else {
            throw RequestError.noSuch("notification")
        }
        guard change.isDone(in: after) else {
            throw RequestError.conflict(
                "wrong_state",
                "it is \(after.state.rawValue): \(name) is not possible",
                at: "notification"
            )
        }
        self.wakes[after.lane].signal()
        return try .json(try await self.response(after))
    }

    private func changed(_ id: UUID, _ change: StateChange) async throws -> NotificationRecord? {
        do {
            return try await self.store.setState(change, of: id, now: self.time.recorded)
        } catch is DamagedRow {
            throw RequestError.conflict(
                "unreadable",
                "its record is damaged, see martlet check: \(change.effectOnDamagedRow)",
                at: "notification"
            )
        }
    }

    private func deliveries(_ request: OperationRequest) async throws -> Response {
        let notification = try await self.notification(request)
        let page = try request.page(.deliveries)
        let state = try request.value(
            "state",
            { name in DeliveryRecord.State.allCases.first { $0.word == name } },
            orThrow: .invalid("state", "use one of \(DeliveryResponse.states.joined(separator: ", "))")
        )
        let deliveries = try await self.store.deliveries(
            of: notification.id,
            state: state,
            after: page.after,
            limit: page.limit
        )
        let next = page.next(after: deliveries, \.recipient)
        return try .page("deliveries", deliveries.map(DeliveryResponse.init), next: next)
    }

    private func notification(_ request: OperationRequest) async throws -> NotificationRecord {
        guard let id = request.uuid("notification"), let notification = try await self.store.notification(id) else {
            throw RequestError.noSuch("notification")
        }
        return notification
    }

    private func response(_ notification: NotificationRecord) async throws -> NotificationResponse {
        let app = try await self.store.app(id: notification.app)
        return NotificationResponse(notification, app: app?.bundleID, now: self.time.now)
    }
}

extension StateChange {
    /// Returns `true` if the notification is in the state that this change leads to.
    fileprivate func isDone(in notification: NotificationRecord) -> Bool {
        switch self {
        case .pause: notification.state == .paused
        case .resume: [.scheduled, .accepted, .sending].contains(notification.state)
        case .cancel: notification.state == .cancelled
        }
    }

    /// The effect on a notification whose record is damaged.
    fileprivate var effectOnDamagedRow: String {
        switch self {
        case .pause: "it is paused, unless it had ended"
        case .resume: "it cannot continue, cancel it"
        case .cancel: "it is cancelled, unless it had ended"
        }
    }
}
