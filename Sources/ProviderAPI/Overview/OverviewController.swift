import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The operations `GET /v1/overview`, which returns campaigns (bulk notifications) in progress, faults and their
/// remedies, and `GET /v1/campaigns`, which returns only the campaigns.
struct OverviewController: Controller {
    let store: any AppStore & NotificationStore & StatisticsStore
    let trouble: HealthChecker
    let time: any TimeSource

    /// The maximum number of campaigns, which are bulk notifications, that a response contains for each state. Older
    /// ones are omitted.
    private static let maximum = 20

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/overview", id: "showOverview", self.show)
                .summary(
                    "Campaigns in progress, the figures of today and trouble, of the apps that the caller may use."
                )
                .tag(.operation).scope(.read).cost(.query).filteredByApp()
                .parameters(.ofApp, .query("timeZone", "In which today begins at midnight; default UTC.", .timeZone))
                .responses(.ok(OverviewResponse.schema)),
            .init(.get, "/v1/campaigns", id: "listCampaigns", self.showCampaigns)
                .summary("Campaigns in progress, with rate and time left.")
                .tag(.operation).scope(.read).cost(.query).filteredByApp().parameters(.ofApp)
                .responses(.ok(CampaignsResponse.schema)),
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let zone = try request.value(
            "timeZone",
            { TimeZone(named: $0) },
            orThrow: .invalid("timeZone", "use a name such as Europe/Berlin")
        )
        let apps = try await request.queriedApps(self.store)
        let now = self.time.now
        let midnight = Self.midnight(before: now, in: zone ?? .gmt)
        let to = now.advanced(by: .seconds(1))
        var today = StatisticPoint(at: midnight)
        for point in try await self.store.statistics(apps: apps.map(\.id), from: midnight, to: to, step: .day) {
            today.add(point)
        }
        let response = OverviewResponse(
            sending: try await self.campaigns(apps),
            today: today,
            trouble: try await self.trouble.all(apps, includesServer: request.caller?.apps == nil)
        )
        return try .json(response)
    }

    private func showCampaigns(_ request: OperationRequest) async throws -> Response {
        let campaigns = try await self.campaigns(try await request.queriedApps(self.store))
        return try .json(CampaignsResponse(campaigns: campaigns))
    }

    /// Returns the campaigns that are being sent, queued, paused or scheduled, the newest of each state first.
    private func campaigns(_ apps: [AppRecord]) async throws -> [NotificationResponse] {
        var campaigns: [NotificationRecord] = []
        for state in [NotificationRecord.State.sending, .accepted, .paused, .scheduled] {
            var filter = NotificationFilter(apps: apps.map(\.id))
            (filter.state, filter.lane) = (state, .bulk)
            campaigns += try await self.store.notifications(
                filter,
                sort: .newest,
                after: nil,
                limit: Self.maximum
            ).entries
        }
        let names = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.bundleID) })
        let clocks = self.time.reading
        return campaigns.map { NotificationResponse(notification: $0, app: names[$0.app], clocks: clocks) }
    }

    /// Returns the latest midnight in a time zone, at which the counts for *today* begin.
    private static func midnight(before now: Timestamp, in zone: TimeZone) -> Timestamp {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = calendar.startOfDay(for: Date(timeIntervalSince1970: Double(now.seconds)))
        return Timestamp(seconds: Int64(date.timeIntervalSince1970))
    }
}

/// The response body that lists the campaigns (bulk notifications) in progress, at most 20 in each state.
package struct CampaignsResponse: ResponseObject {
    package let campaigns: [NotificationResponse]

    package static let schemaName: String? = "Campaigns"
    package static let members: [ResponseMember<Self>] = [
        .required("campaigns", \.campaigns, "At most 20 of each state.")
    ]
}

/// The response body with the overview: the campaigns in progress, the counts of today, and the problems.
package struct OverviewResponse: ResponseObject {
    package let sending: [NotificationResponse]
    package let today: StatisticPoint
    package let trouble: [HealthProblem]

    package static let schemaName: String? = "Overview"
    package static let members: [ResponseMember<Self>] = [
        .required("campaigns", \.sending, "Those in progress, with rate and time left; at most 20 of each state."),
        .required("today", \.today, "Since midnight."),
        .required("trouble", \.trouble, "The worst first; empty if all is well."),
    ]
}

extension StatisticPoint {
    fileprivate mutating func add(_ other: StatisticPoint) {
        self.accepted += other.accepted
        self.rejected += other.rejected
        self.failed += other.failed
        self.skipped += other.skipped
        self.unknown += other.unknown
        self.opened += other.opened
        for index in self.latency.buckets.indices { self.latency.buckets[index] += other.latency.buckets[index] }
    }
}
