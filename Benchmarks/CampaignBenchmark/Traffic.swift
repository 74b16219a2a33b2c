import Foundation
import PushSupport
import PushTypes

/// Calls at a steady rate, whatever became of the earlier ones, until the task is cancelled.
enum SteadyCalls {
    /// - Returns: what each call gave, in no particular order.
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
                // A call that has begun is not cut off when the calls end.
                group.addTask { try await Task { try await call(current) }.value }
                number += 1
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Single notifications to tokens of the other environment, so that nothing but the process is shared with the campaign.
struct SingleSends: Sendable {
    /// One notification: when its request was sent, how long the API took, and later when the push service had it.
    struct Sent: Sendable {
        var id: String
        var startMs: Double
        var answerMs: Double
    }

    struct Report: Sendable {
        /// Milliseconds from the request to the push service's answer, as the ledger has it; sorted.
        var arrivals: [Double] = []
        /// Milliseconds from the request to the API's answer; sorted.
        var answers: [Double] = []

        func print(_ name: String) {
            guard !self.arrivals.isEmpty else { return }
            for share in [50, 99] {
                figure("\(name)_single_p\(share)", self.arrivals[self.arrivals.count * share / 100], "ms")
                figure("\(name)_single_api_p\(share)", self.answers[self.answers.count * share / 100], "ms")
            }
            figure("\(name)_singles", Double(self.arrivals.count), "notifications, all accepted")
        }
    }

    /// The tokens have to be among those that the push service knows.
    private static let tokens = 1000

    let api: ProviderAPI
    let rate: Double

    func run() async throws -> Report {
        let sent = try await SteadyCalls.run(rate: self.rate) { try await self.send($0) }
        // The task is cancelled by now, which would end each of these requests.
        let arrivals = try await Task {
            var arrivals: [Double] = []
            for notification in sent { arrivals.append(try await self.arrival(notification)) }
            return arrivals
        }.value
        return Report(arrivals: arrivals.sorted(), answers: sent.map(\.answerMs).sorted())
    }

    private func send(_ number: Int) async throws -> Sent {
        let token = TokenOptions.madeUp(number % Self.tokens).hex
        let body = """
            {"to":{"tokens":["\(token)"]},"environment":"production","alert":"Number \(number)"}
            """
        let start = Date().timeIntervalSince1970 * 1000
        let answer = try await self.api.post("/v1/apps/\(BenchmarkApp.bundleID)/notifications", Data(body.utf8))
        let end = Date().timeIntervalSince1970 * 1000
        guard let id = answer.string("id") else { throw BenchmarkFailure("the provider's answer has no id") }
        return Sent(id: id, startMs: start, answerMs: end - start)
    }

    /// Waits until it has its final state, which has to be `accepted`.
    private func arrival(_ sent: Sent) async throws -> Double {
        for _ in 0..<600 {
            let answer = try await self.api.get("/v1/notifications/\(sent.id)/deliveries")
            if case .array(let deliveries)? = answer["deliveries"], case .object(let delivery)? = deliveries.first {
                guard delivery.string("state") == "accepted", let at = delivery.integer("atMs") else {
                    throw BenchmarkFailure("a single notification was not accepted: \(delivery)")
                }
                // The ledger keeps whole milliseconds, rounded down.
                return Double(at) + 1 - sent.startMs
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkFailure("a single notification has no final state after a minute")
    }
}

/// Devices that register, three new ones for each that comes again.
struct Registrations: Sendable {
    struct Report: Sendable {
        /// Milliseconds, sorted.
        var answers: [Double] = []

        func print(_ name: String) {
            guard !self.answers.isEmpty else { return }
            figure("\(name)_registrations", Double(self.answers.count), "registrations without an error")
            for share in [50, 99] {
                figure("\(name)_registration_p\(share)", self.answers[self.answers.count * share / 100], "ms")
            }
        }
    }

    let api: ProviderAPI
    /// A second.
    let rate: Double

    func run() async throws -> Report {
        // Others than those of an earlier run, and than the campaign's.
        let first = Int(Date().timeIntervalSince1970) * 1_000_000
        let times = try await SteadyCalls.run(rate: self.rate) { number in
            let token = TokenOptions.madeUp(first + (number % 4 == 3 ? number - 3 : number)).hex
            let body = """
                {"token":"\(token)","environment":"production","user":"new\(number)","locale":"de","appVersion":"2.0",
                "attributes":{"name":"Person \(number)"},"tags":["new"]}
                """
            let start = ContinuousClock.now
            _ = try await self.api.post("/v1/apps/\(BenchmarkApp.bundleID)/devices", Data(body.utf8))
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        return Report(answers: times.sorted())
    }
}
