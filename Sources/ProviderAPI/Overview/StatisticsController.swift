import Hummingbird
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The operation `GET /v1/statistics`, which returns the numbers of pushes by outcome and of openings, for a chart.
struct StatisticsController: Controller {
    let store: any AppStore & StatisticsStore
    let time: any TimeSource

    /// The maximum number of intervals in a response, which equals the minutes of a day. A range with more is rejected.
    private static let maximumIntervals: Int64 = 1440
    /// The maximum number of failure reasons in a response. The rarest are omitted.
    private static let reasons = 20

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/statistics", id: "showStatistics", self.show)
                .summary("What was sent and opened, of an app or of all that the caller may use, in intervals.")
                .tag(.operation).scope(.read).cost(.query).filteredByApp()
                .parameters(
                    .ofApp,
                    .from,
                    .to,
                    .query("step", "The interval; default by the length of the range.", .choice(of: StatisticStep.self))
                )
                .responses(.ok(StatisticsResponse.schema))
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let apps = try await request.queriedApps(self.store).map(\.id)
        let now = self.time.now
        let range = try request.timeRange()
        let to = min(range.to ?? Timestamp(milliseconds: .max), now.advanced(by: .seconds(1)))
        let from = min(range.from ?? to.advanced(by: .seconds(-86_400)), to)
        let step = try request.choice("step", StatisticStep.self) ?? Self.step(from: from, to: to)
        let kept = Self.kept(step, from: from, now: now)
        let start = kept.start(of: from)
        let intervals = (to.seconds - start.seconds) / kept.seconds + 1
        guard intervals <= Self.maximumIntervals else {
            let message =
                "a response has at most \(Self.maximumIntervals) intervals, not \(intervals): take a longer step"
            throw RequestError.invalid("step", message)
        }
        let points = try await self.store.statistics(apps: apps, from: start, to: to, step: kept)
        let reasons = try await self.store.topReasons(apps: apps, from: start, to: to, limit: Self.reasons)
        return try .json(StatisticsResponse(step: kept, from: start, to: to, points: points, reasons: reasons))
    }

    /// Returns the default interval of the counts for a time range: a minute for up to a day, an hour for up to 60
    /// days, and otherwise a day.
    private static func step(from: Timestamp, to: Timestamp) -> StatisticStep {
        switch to.seconds - from.seconds {
        case ..<86_400: .minute
        case ..<(60 * 86_400): .hour
        default: .day
        }
    }

    /// Returns the shortest interval of at least `step` for which the counters at the start of the range are still
    /// kept. Counters of longer intervals are kept for longer.
    private static func kept(_ step: StatisticStep, from: Timestamp, now: Timestamp) -> StatisticStep {
        guard let next = step.next, from < now.advanced(by: .zero - step.retention) else { return step }
        return Self.kept(next, from: from, now: now)
    }
}

/// The response body for statistics. Intervals without any counts are omitted.
package struct StatisticsResponse: ResponseObject {
    let step: StatisticStep
    let from, to: Timestamp
    package let points: [StatisticPoint]
    let reasons: [ReasonCount]

    package var bounds: [Int] { LatencyHistogram.bounds.map(Int.init) }

    package static let schemaName: String? = "Statistics"
    package static let members: [ResponseMember<Self>] = [
        .required("step", \.step, "The interval, which is longer than asked for where older counters are kept so."),
        .required("fromMs", \.from),
        .required("toMs", \.to),
        .required("intervals", \.points, "Those in which something was counted."),
        .required("reasons", \.reasons, "The most frequent reasons of what was not accepted."),
        .required("latencyBounds", \.bounds, "The greatest milliseconds of each bucket of `latency` but the last."),
    ]
}

extension StatisticStep: JSONRepresentable {}

extension StatisticPoint: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("atMs", \.at),
        .required("accepted", \.accepted),
        .required("rejected", \.rejected),
        .required("failed", \.failed),
        .required("skipped", \.skipped),
        .required("unknown", \.unknown),
        .required("opened", \.opened, "Installations that opened a notification."),
        .required("latency", \.latency.buckets, "Pushes by the time until their response."),
    ]
}

extension ReasonCount: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("state", \.state.word, as: .choice(DeliveryResponse.states)),
        .required("reason", \.reason),
        .required("count", \.count),
    ]
}
