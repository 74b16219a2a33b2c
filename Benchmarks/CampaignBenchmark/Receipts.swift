import ArgumentParser
import Benchmarking
import Foundation
import PushSupport
import PushTypes

/// Campaigns alone and beside receipts of installations, in turn.
struct Receipts: AsyncParsableCommand {
    @OptionGroup var provider: ProviderOptions
    @Option(help: "File with the JSON of the request.") var request: String
    @Option(help: "Devices that are to get it.") var count: Int
    @Option(help: "Receipts a minute.") var rate = 100_000.0
    @Option(help: "Receipts of a request.") var batch = 5
    @Option(help: "Installations that send them, of the devices.") var installations = 2000
    @Option(help: "Campaigns of each kind.") var pairs = 3
    @Option(help: "Seconds after which a campaign is given up.") var limit = 900.0

    /// An installation with its secret.
    private struct Installation: Sendable {
        var path: String
        var secret: String
    }

    private static let events = ["delivered", "shown", "opened", "dismissed", "converted"]

    func run() async throws {
        let api = self.provider.api
        let body = try Data(contentsOf: URL(filePath: self.request))
        guard (1...Self.events.count).contains(self.batch) else {
            throw BenchmarkFailure("a batch has 1 to 5 receipts")
        }
        _ = try await api.patch("/v1/apps/\(BenchmarkApp.bundleID)", Data(#"{"receipts":"device"}"#.utf8))
        let (app, installations) = try await self.register(api)
        let runner = CampaignRun(api: api, count: self.count, limit: self.limit)
        _ = try await runner.run(body) { _ in }
        var (alone, beside, ratios): ([Double], [Double], [Double]) = ([], [], [])
        var times: [Double] = []
        var wanted: [String: Int] = [:]
        for _ in 0..<self.pairs {
            alone.append(try await runner.run(body) { _ in })
            let current = CurrentNotification()
            let start = ContinuousClock.now
            let traffic = Task {
                try await ConstantRateCalls.run(rate: self.rate / 60 / Double(self.batch)) { number in
                    try await self.send(number, app, installations, current)
                }
            }
            beside.append(try await runner.run(body) { await current.set($0) })
            traffic.cancel()
            let sent = try await traffic.value.compactMap { $0 }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            times += sent.map(\.milliseconds)
            for one in sent { wanted[one.notification, default: 0] += self.batch }
            ratios.append((beside.last ?? 0) / (alone.last ?? 1))
            say("receipts: \(Double(sent.count * self.batch) / seconds)/s, campaign \(ratios.last ?? 0) of alone")
        }
        try await Self.check(api, wanted)
        times.sort()
        figure("receipts_alone_rate", alone.sorted()[alone.count / 2], "pushes/s of a campaign alone")
        figure("receipts_beside_rate", beside.sorted()[beside.count / 2], "pushes/s of a campaign beside receipts")
        figure("receipts_to_alone", ratios.sorted()[ratios.count / 2], "ratio, wanted 0.9 at least")
        figure("receipts_sent", Double(times.count * self.batch), "receipts, all accepted and counted")
        if !times.isEmpty {
            for share in [50, 99] { figure("receipts_p\(share)", times[times.count * share / 100], "ms of a request") }
        }
        try await ProviderAPI.close()
    }

    /// Registers the first devices as installations, with a public key.
    private func register(_ api: ProviderAPI) async throws -> (app: ProviderAPI, [Installation]) {
        let key = #"{"name":"receipts","scopes":["registerSelf"],"apps":["\#(BenchmarkApp.bundleID)"]}"#
        guard let text = try await api.post("/v1/keys", Data(key.utf8)).string("key") else {
            throw BenchmarkFailure("the provider's answer has no key")
        }
        let app = ProviderAPI(base: api.base, key: text)
        var installations: [Installation] = []
        for number in 0..<min(self.installations, self.count) {
            let path = "/v1/apps/\(BenchmarkApp.bundleID)/installations/installation-\(number)"
            let body = #"{"token":"\#(TokenOptions.madeUp(number).hex)","environment":"sandbox"}"#
            guard let secret = try await app.put(path, Data(body.utf8)).string("secret") else {
                throw BenchmarkFailure("the provider's answer has no secret")
            }
            installations.append(Installation(path: path, secret: secret))
        }
        return (app, installations)
    }

    /// Sends the receipts of one installation, and returns the time that it took; `nil` before the campaign is accepted.
    private func send(
        _ number: Int,
        _ app: ProviderAPI,
        _ installations: [Installation],
        _ current: CurrentNotification
    ) async throws -> (milliseconds: Double, notification: String)? {
        guard let notification = await current.id else { return nil }
        let installation = installations[number % installations.count]
        let at = Int(Date().timeIntervalSince1970)
        let receipts = Self.events.prefix(self.batch).map { event in
            #"{"id":"\#(UUID().uuidString)","notification":"\#(notification)","event":"\#(event)","at":\#(at)}"#
        }
        let body = #"{"privacy":"device","receipts":[\#(receipts.joined(separator: ","))]}"#
        let start = ContinuousClock.now
        let answer = try await app.post(
            "\(installation.path)/receipts",
            Data(body.utf8),
            headers: [("installation-secret", installation.secret)]
        )
        guard answer.integer("accepted") == Int64(self.batch) else {
            throw BenchmarkFailure("receipts were not accepted: \(answer)")
        }
        return ((ContinuousClock.now - start) / .milliseconds(1), notification)
    }

    /// Checks that each notification has as many receipts as were answered.
    private static func check(_ api: ProviderAPI, _ wanted: [String: Int]) async throws {
        for (notification, count) in wanted {
            let answer = try await api.get("/v1/notifications/\(notification)")
            guard case .array(let counts)? = answer["receiptCounts"] else {
                throw BenchmarkFailure("the notification has no receipts")
            }
            let total = counts.reduce(Int64(0)) { sum, count in
                if case .object(let members) = count { sum + (members.integer("total") ?? 0) } else { sum }
            }
            guard total == Int64(count) else { throw BenchmarkFailure("\(count) receipts were sent, \(total) counted") }
        }
    }
}

/// The notification whose receipts are sent.
actor CurrentNotification {
    private(set) var id: String?

    func set(_ id: String) { self.id = id }
}
