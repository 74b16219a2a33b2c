import Benchmarking
import Foundation
import PushSupport
import PushTypes

/// Calls at a constant rate, regardless of the earlier calls, until the task is cancelled.
enum ConstantRateCalls {
    /// - Returns: the results of the calls, in no particular order.
    static func run<Result: Sendable>(
        rate: Double,
        _ call: @Sendable @escaping (Int) async throws -> Result
    ) async throws -> [Result] {
        guard rate > 0 else { return [] }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            let start = ContinuousClock.now
            var number = 0
            while !Task.isCancelled {
                let due = start + .seconds(Double(number) / rate)
                do {
                    try await Task.sleep(until: due, clock: .continuous)
                } catch {
                    break
                }
                let current = number
                // A call in flight is not cancelled.
                group.addTask { try await Task { try await call(current) }.value }
                number += 1
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Single notifications to tokens of the other environment, which share only the process with the campaign.
struct SingleSends: Sendable {
    /// A notification with the time of its request and the latency of the API.
    struct Sent: Sendable {
        var id: String
        var startMs: Double
        var responseMs: Double
    }

    struct Report: Sendable {
        /// The sorted times from the request to the push service's response in the ledger, in milliseconds.
        var arrivals: [Double] = []
        /// The sorted times from the request to the API's response, in milliseconds.
        var responses: [Double] = []

        func print(_ name: String) {
            guard !self.arrivals.isEmpty else { return }
            for share in [50, 99] {
                figure("\(name)_single_p\(share)", self.arrivals[self.arrivals.count * share / 100], "ms")
                figure("\(name)_single_api_p\(share)", self.responses[self.responses.count * share / 100], "ms")
            }
            figure("\(name)_singles", Double(self.arrivals.count), "notifications, all accepted")
        }
    }

    /// The number of tokens. They are among those that the push service has.
    private static let tokens = 1000

    let api: ProviderAPI
    let rate: Double

    func run() async throws -> Report {
        let sent = try await ConstantRateCalls.run(rate: self.rate) { try await self.send($0) }
        // The task is cancelled, which would cancel each of these requests.
        let arrivals = try await Task {
            var arrivals: [Double] = []
            for notification in sent { arrivals.append(try await self.arrival(notification)) }
            return arrivals
        }.value
        return Report(arrivals: arrivals.sorted(), responses: sent.map(\.responseMs).sorted())
    }

    private func send(_ number: Int) async throws -> Sent {
        let token = TokenOptions.madeUp(number % Self.tokens).hex
        let body = """
            {"to":{"tokens":["\(token)"]},"environment":"production","alert":"Number \(number)"}
            """
        let start = Date().timeIntervalSince1970 * 1000
        let response = try await self.api.post("/v1/apps/\(BenchmarkApp.bundleID)/notifications", Data(body.utf8))
        let end = Date().timeIntervalSince1970 * 1000
        guard let id = response.string("id") else { throw BenchmarkFailure("the provider's answer has no id") }
        return Sent(id: id, startMs: start, responseMs: end - start)
    }

    /// Waits for the final state, which must be `accepted`, and returns the time to it in milliseconds.
    private func arrival(_ sent: Sent) async throws -> Double {
        for _ in 0..<600 {
            let response = try await self.api.get("/v1/notifications/\(sent.id)/deliveries")
            if case .array(let deliveries)? = response["deliveries"], case .object(let delivery)? = deliveries.first {
                guard delivery.string("state") == "accepted", let at = delivery.integer("atMs") else {
                    throw BenchmarkFailure("a single notification was not accepted: \(delivery)")
                }
                // The ledger has whole milliseconds, rounded down.
                return Double(at) + 1 - sent.startMs
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkFailure("a single notification has no final state after a minute")
    }
}

/// Registrations of devices: three new ones for each known one.
struct Registrations: Sendable {
    struct Report: Sendable {
        /// The sorted latencies, in milliseconds.
        var responses: [Double] = []

        func print(_ name: String) {
            guard !self.responses.isEmpty else { return }
            figure("\(name)_registrations", Double(self.responses.count), "registrations without an error")
            for share in [50, 99] {
                figure("\(name)_registration_p\(share)", self.responses[self.responses.count * share / 100], "ms")
            }
        }
    }

    let api: ProviderAPI
    /// The registrations per second.
    let rate: Double

    func run() async throws -> Report {
        // The tokens differ from those of earlier runs and of the campaign.
        let first = Int(Date().timeIntervalSince1970) * 1_000_000
        let times = try await ConstantRateCalls.run(rate: self.rate) { number in
            let token = TokenOptions.madeUp(first + (number % 4 == 3 ? number - 3 : number)).hex
            let body = """
                {"token":"\(token)","environment":"production","user":"new\(number)","locale":"de","appVersion":"2.0",
                "attributes":{"name":"Person \(number)"},"tags":["new"]}
                """
            let start = ContinuousClock.now
            _ = try await self.api.post("/v1/apps/\(BenchmarkApp.bundleID)/devices", Data(body.utf8))
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        return Report(responses: times.sorted())
    }
}
