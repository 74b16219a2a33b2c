import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations `GET /v1/notifications` and `GET /v1/apps/{app}/notifications`, which return filtered, sorted and
/// paged lists.
struct NotificationListController: Controller {
    let store: any AppStore & NotificationStore
    let waits: HeldWaveRegistry
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let name = Schema.string(length: 1...NotificationRequest.maximumName)
        let parameters: [ParameterDescription] = [
            .query("state", "In this state.", .choice(of: NotificationRecord.State.self)),
            .query("name", "With this name.", name), .query("nameContains", "With this text in the name.", name),
            .query("key", "Sent by this API key or person, by the id.", .uuid), .from, .to,
            .query("lane", "urgent: single and urgent ones. bulk: campaigns.", .choice(["urgent", "bulk"])),
            .query("pushType", "Of this push type.", .choice(of: PushType.self)),
            .query("schedule", "Runs of this schedule.", .uuid), .sort(NotificationSort.self), .total, .cursor,
            .limit(),
        ]
        let page = ResponseDescription.ok(.countedPage("notifications", of: NotificationResponse.schema))
        let operations: [ProviderOperation] = [
            .init(.get, "/v1/apps/{app}/notifications", id: "listAppNotifications") { request in
                try await self.list(request, [try await request.app(self.store)])
            }
            .summary("An app's notifications."),
            .init(.get, "/v1/notifications", id: "listNotifications") { request in
                let apps = try await self.store.apps()
                return try await self.list(request, apps.filter { request.caller?.mayUse($0.bundleID) ?? true })
            }
            .summary("The notifications of all apps that the caller may use.").filteredByApp(),
        ]
        return operations.map {
            $0.tag(.notifications).scope(.read).cost(.query).parameters(parameters).responses(page)
                .reservingPage(ofEntries: 640)
        }
    }

    private func list(_ request: OperationRequest, _ apps: [AppRecord]) async throws -> Response {
        let sort = try request.choice("sort", NotificationSort.self) ?? .newest
        let filter = try Self.filter(request, apps)
        let list = sort.cursors
        let page = try await self.store.notifications(
            filter,
            sort: sort,
            after: try request.position(list),
            limit: try request.limit()
        )
        let total = try request.wantsTotal() ? try await self.store.totalNotifications(filter) : nil
        let names = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.bundleID) })
        let clocks = self.time.reading
        return try .countedPage(
            "notifications",
            page.entries.map { notification in
                var response = NotificationResponse(
                    notification: notification,
                    app: names[notification.app],
                    clocks: clocks
                )
                response.steered = self.waits.wait(of: notification.id, now: clocks.steady)
                return response
            },
            next: page.next?.cursor(list, isSorted: sort != .newest),
            total: total
        )
    }

    private static func filter(_ request: OperationRequest, _ apps: [AppRecord]) throws -> NotificationFilter {
        let longest = NotificationRequest.maximumName
        var filter = NotificationFilter(apps: apps.map(\.id))
        filter.state = try request.choice("state", NotificationRecord.State.self)
        filter.name = try request.text("name", maximum: longest)
        filter.nameContains = try request.text("nameContains", maximum: longest)
        filter.key = try request.queryUUID("key")
        filter.lane = try request.value(
            "lane",
            { ["urgent": NotificationRecord.Lane.urgent, "bulk": .bulk][$0] },
            orThrow: .invalid("lane", "use urgent or bulk")
        )
        filter.pushType = try request.choice("pushType", PushType.self)
        filter.schedule = try request.queryUUID("schedule")
        (filter.from, filter.to) = try request.timeRange()
        return filter
    }
}

extension NotificationSort {
    /// The list to which the cursors of this sort order belong. A cursor of another order is rejected.
    fileprivate var cursors: Cursor.List {
        switch self {
        case .newest: .notifications
        case .name: Cursor.List("nn", numbers: 2)
        case .recipients: Cursor.List("nr", numbers: 2)
        case .state: Cursor.List("ns", numbers: 2)
        }
    }
}
