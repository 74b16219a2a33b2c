import ProviderAPI
import ProviderModel
import PushSupport
import PushTypes
import WebPages

/// Creates the template variables for today's numbers and for the charts of the last 24 hours.
enum StatisticsModel {
    /// The names of the localized labels for the numbers of recipients with a final state, with the closures that
    /// return the numbers.
    private static let numbers: [(name: String, value: @Sendable (StatisticPoint) -> Int)] = [
        ("accepted", { $0.accepted }), ("rejected", { $0.rejected }), ("failed", { $0.failed }),
        ("skipped", { $0.skipped }), ("unknown", { $0.unknown }),
    ]

    static func figures(_ today: StatisticPoint, _ request: PageRequest) -> [PageModel] {
        let outcomes = self.numbers.map { ($0.name, $0.value(today)) }
        return (outcomes + [("opened", today.opened)]).compactMap { name, value in
            // The numbers of rare outcomes are omitted while they are 0.
            guard value > 0 || ["accepted", "rejected", "opened"].contains(name) else { return nil }
            return ["value": PageNumber(value: Double(value)), "label": request.texts["overview.\(name)"]]
        }
    }

    /// Returns the variable `charts`: outcomes, response times and openings in each of the last 24 hours, of one app,
    /// or of all apps for `nil`.
    static func charts(_ request: PageRequest, app: String?) async throws -> [PageModel] {
        let hours = 24
        let start = request.interface.time.now.seconds / 3600 - Int64(hours - 1)
        let query = URLText.query(["app": app, "from": "\(start * 3600)", "step": "hour"])
        let found = try await request.get("/v1/statistics\(query)", as: StatisticsResponse.self)
        let byHour = Dictionary(found.points.map { ($0.at.milliseconds / 3_600_000, $0) }) { $1 }
        let points = (0..<Int64(hours)).map { byHour[start + $0] }
        let times = (0..<Int64(hours)).map { hour -> String in
            let ofDay = (start + hour) % 24
            return ofDay < 10 ? "0\(ofDay):00" : "\(ofDay):00"
        }
        let bounds = found.bounds.map { Double($0) }
        let outcomes = self.numbers.map { name, value in
            Chart.Series(request.texts["overview.\(name)"], points.map { $0.map { Double(value($0)) } })
        }
        let latency = [("p50", 0.5), ("p95", 0.95)].map { name, part in
            let values = points.map { point in
                point.flatMap { self.quantile(part, $0.latency.buckets.map { Double($0) }, bounds) }
            }
            return Chart.Series(request.texts["overview.\(name)"], values)
        }
        let opened = Chart.Series(request.texts["overview.opened"], points.map { $0.map { Double($0.opened) } })
        return [
            self.chart("outcomes", .stackedBars, times, outcomes, request),
            self.chart("latency", .lines, times, latency, request),
            self.chart("opens", .lines, times, [opened], request),
        ]
    }

    private static func chart(
        _ name: String,
        _ kind: Chart.Kind,
        _ times: [String],
        _ series: [Chart.Series],
        _ request: PageRequest
    ) -> PageModel {
        let (title, description) = (request.texts["overview.\(name)"], request.texts["overview.\(name)Text"])
        return Chart(kind, title: title, description: description, times: times, series: series)
            .model(id: name, format: request.format)
    }

    /// Returns the upper bound of the bucket that contains a quantile, or `nil` if all buckets are empty. For the last
    /// bucket, which has no upper bound, returns that of the bucket before it.
    static func quantile(_ part: Double, _ buckets: [Double], _ bounds: [Double]) -> Double? {
        let all = buckets.reduce(0, +)
        guard all > 0, let last = bounds.last else { return nil }
        var sum = 0.0
        for (index, count) in buckets.enumerated() {
            sum += count
            if sum >= part * all { return index < bounds.count ? bounds[index] : last }
        }
        return last
    }
}
