import ProviderAPI
import PushSupport
import PushTypes
import WebPages

/// The figures of today and the charts of the last day.
enum StatisticsModel {
    /// Returns the variables `figures` of the template of that name.
    static func figures(_ today: JSONValue, _ request: PageRequest) -> [PageModel] {
        (NotificationSummary.outcomes + ["opened"]).compactMap { name in
            let value = today[name].numberValue ?? 0
            // Rare outcomes are shown only when there are some.
            guard value > 0 || ["accepted", "rejected", "opened"].contains(name) else { return nil }
            return ["value": PageNumber(value: value), "label": request.texts["overview.\(name)"]]
        }
    }

    /// Returns the variable `charts`: outcomes, response time and openings of the last 24 hours, by the hour.
    static func charts(_ request: PageRequest, app: String?) async throws -> [PageModel] {
        let hours = 24
        let start = request.interface.time.now.seconds / 3600 - Int64(hours - 1)
        let query = FormText.query(["app": app, "from": "\(start * 3600)", "step": "hour"])
        let found = try await request.get("/v1/statistics\(query)")
        var byHour: [Int64: JSONValue] = [:]
        for point in found["intervals"].elements {
            guard let at = point["atMs"].integerValue else { continue }
            byHour[at / 3_600_000] = point
        }
        let points = (0..<Int64(hours)).map { byHour[start + $0] }
        let times = (0..<Int64(hours)).map { hour -> String in
            let ofDay = (start + hour) % 24
            return ofDay < 10 ? "0\(ofDay):00" : "\(ofDay):00"
        }
        let bounds = found["latencyBounds"].elements.compactMap(\.numberValue)
        return [
            self.outcomes(points, times, request), self.latency(points, bounds, times, request),
            self.opens(points, times, request),
        ]
    }

    private static func outcomes(_ points: [JSONValue?], _ times: [String], _ request: PageRequest) -> PageModel {
        let series = NotificationSummary.outcomes.map { name in
            Chart.Series(request.texts["overview.\(name)"], points.map { $0?[name].numberValue })
        }
        return Chart(
            .stackedBars,
            title: request.texts["overview.outcomes"],
            description: request.texts["overview.outcomesText"],
            times: times,
            series: series
        )
        .model(id: "outcomes", format: request.format)
    }

    private static func latency(
        _ points: [JSONValue?],
        _ bounds: [Double],
        _ times: [String],
        _ request: PageRequest
    ) -> PageModel {
        let series = [("p50", 0.5), ("p95", 0.95)].map { name, part in
            let values = points.map { point in
                point.flatMap { self.quantile(part, $0["latency"].elements.compactMap(\.numberValue), bounds) }
            }
            return Chart.Series(request.texts["overview.\(name)"], values)
        }
        return Chart(
            .lines,
            title: request.texts["overview.latency"],
            description: request.texts["overview.latencyText"],
            times: times,
            series: series
        )
        .model(id: "latency", format: request.format)
    }

    private static func opens(_ points: [JSONValue?], _ times: [String], _ request: PageRequest) -> PageModel {
        Chart(
            .lines,
            title: request.texts["overview.opens"],
            description: request.texts["overview.opensText"],
            times: times,
            series: [.init(request.texts["overview.opened"], points.map { $0?["opened"].numberValue })]
        )
        .model(id: "opens", format: request.format)
    }

    /// Returns the bound of the bucket in which a part of all pushes ends; `nil` without any. The last bucket has no bound: its
    /// value is that of the one before.
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
