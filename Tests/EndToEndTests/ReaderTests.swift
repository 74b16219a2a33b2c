import AppSimulator
import Crypto
import Foundation
import MartletKit
import ProviderAPI
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

/// The publisher's reader against provider and gateway over real sockets.
@Suite("A reader and its publisher", .timeLimit(.patience)) struct ReaderTests {
    private static let door = "registration-key-1"

    /// A reader that runs, and its publisher.
    private struct Run: Sendable {
        let loop: RunningLoop
        let reader: Reader
        let folder: String

        private var api: JSONClient { self.loop.provider.api }

        /// Carries out commands.
        func run(_ lines: String...) async throws {
            for line in lines {
                let command = try LibraryCommand(parsing: line)
                _ = try await self.reader.perform(try #require(command).patient)
            }
        }

        func library() async throws -> PushSupport.JSONValue { try await self.reader.perform(.library)?.json ?? .null }

        func addPublication() async throws -> String {
            let answer = try await self.api.post("/v1/apps/\(Vectors.bundleID)/publications", ["name": "The Example"])
            return answer.json["id"].stringValue ?? ""
        }

        /// Publishes an issue with a file and a cover.
        /// - Returns: Its id.
        func publish(_ product: String, _ date: String, in publication: String, content: Data) async throws -> String {
            let added = try await self.api.post(
                "/v1/publications/\(publication)/issues",
                ["productId": .string(product), "title": .string(product), "number": "7", "date": .string(date)]
            )
            let id = added.json["id"].stringValue ?? ""
            let file = try await self.upload(content, "application/zip")
            _ = try await self.api.put("/v1/issues/\(id)/renditions/2048x1536", ["file": .string(file)])
            let cover = try await self.upload(Data("GIF89a of \(product)".utf8), "image/gif")
            _ = try await self.api.put("/v1/issues/\(id)/cover", ["file": .string(cover)])
            try await self.api.post("/v1/issues/\(id):publish", [:])
            return id
        }

        private func upload(_ content: Data, _ type: String) async throws -> String {
            let hash = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
            let begun = try await self.api.post(
                "/v1/apps/\(Vectors.bundleID)/uploads",
                ["size": .integer(Int64(content.count)), "sha256": .string(hash), "contentType": .string(type)]
            )
            let id = begun.json["id"].stringValue ?? ""
            let fields = ["content-type": "application/partial-upload", "upload-offset": "0"]
            _ = try await self.api.call("PATCH", "/v1/uploads/\(id)", content, headers: fields)
            return hash
        }

        func notify(_ issue: String) async throws {
            let answer = try await self.api.post("/v1/issues/\(issue):notify", [:])
            #expect(answer.status == 202, "\(answer.json)")
        }
    }

    /// Runs a reader of a development build for the duration of `body`.
    private static func withReader(
        configure: @escaping @Sendable (inout ReaderConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (Run) async throws -> Void
    ) async throws {
        let topic = try #require(Topic(Vectors.bundleID))
        try await withLoop(configure: {
            $0.compatibility.apps[topic] = .init(key: Self.door)
            $0.limits.publicKeyRate = 0
        }) { loop in
            try await withTemporaryDirectory { folder in
                let key: PushSupport.JSONValue = [
                    "name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)],
                ]
                let answer = try await loop.provider.api.post("/v1/keys", key)
                let app = try Martlet.Configuration(
                    provider: try #require(URL(string: loop.provider.api.baseURL)),
                    app: Vectors.bundleID,
                    key: try #require(answer.json["key"].stringValue)
                )
                var configuration = ReaderConfiguration(app: app)
                configuration.registrationKey = Self.door
                configuration.rules.isDevelopment = true
                configure(&configuration)
                var link = DeviceConfiguration(port: loop.gateway.addresses.main.deviceLink)
                link.bePatient()
                link.reconnectBase = .milliseconds(10)
                let reader = try Reader(
                    configuration,
                    folder: try PhoneFolder(folder),
                    link: link,
                    identity: try await loop.activate(),
                    save: { _ in },
                    logger: silentLogger,
                    print: { _ in }
                )
                let run = Run(loop: loop, reader: reader, folder: folder)
                try await withServices([reader]) {
                    try await run.run("wait registered")
                    try await body(run)
                }
            }
        }
    }

    private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })

    @Test("Notify wakes a reader, which downloads the issue, marks it, and opens it; the next one is for another day")
    func wholeWay() async throws {
        try await Self.withReader { run in
            let publication = try await run.addPublication()
            let first = try await run.publish("dev_test.issue7", "2026-11-20", in: publication, content: Self.content)
            try await run.notify(first)
            try await run.run("wait woken", "wait entitled", "wait cover", "wait downloaded")
            let issue = try #require(try await run.library()["issues"].elements.first)
            #expect(issue["productId"] == "dev_test.issue7" && issue["isMarked"] == true && issue["hasCover"] == true)
            #expect(issue["entitledBy"] == "free" && issue["size"] == 300_000)
            let hash = SHA256.hash(data: Self.content).map { String(format: "%02x", $0) }.joined()
            let file = URL(filePath: "\(run.folder)/reader/files/\(hash)")
            #expect(try Data(contentsOf: file) == Self.content)
            try await run.run("open", "wait opened")
            #expect(try await run.library()["issues"].elements.first?["isMarked"] == false)

            let next = Self.content + Data([1])
            let second = try await run.publish("dev_test.issue8", "2026-11-27", in: publication, content: next)
            try await run.notify(second)
            try await run.run("wait skipped", "activate")
            let states = try await run.library()["issues"].elements.map { $0["state"] }
            #expect(states == ["listed", "downloaded"])
        }
    }

    @Test("The provider knows what the form says: the bits, the account and the screen")
    func registration() async throws {
        try await Self.withReader {
            $0.capabilities = [.badge, .background]
            $0.account = "account-1"
            $0.screenSize = "1024x768"
        } _: { run in
            let answer = try await run.loop.provider.api.get("/v1/apps/\(Vectors.bundleID)/devices")
            let device = try #require(answer.json["devices"].elements.first)
            #expect(
                device["attributes"]["accountId"] == "account-1" && device["attributes"]["screenSize"] == "1024x768"
            )
            #expect(device["attributes"]["newsstand"] == true)
            #expect(device["environment"] == "sandbox")
        }
    }

    @Test("A push without Wi-Fi is lost, and an alert is shown as the user allows")
    func cellular() async throws {
        try await Self.withReader {
            $0.network = .cellular
            $0.capabilities = [.alert, .background]
        } _: { run in
            let publication = try await run.addPublication()
            let issue = try await run.publish("dev_test.issue7", "2026-11-20", in: publication, content: Self.content)
            try await run.notify(issue)
            try await run.run("wait skipped", "network wifi")
            #expect(try await run.library()["issues"] == [])
            let alert: PushSupport.JSONValue = [
                "to": ["all": true], "environment": "sandbox", "alert": "Issue 7 is out", "badge": 1,
            ]
            _ = try await run.loop.provider.send(alert)
            try await run.run("wait shown")
            let list = try await run.reader.perform(.list)?.json ?? .null
            #expect(list["badge"] == 0 && list["notifications"].elements.first?["body"] == "Issue 7 is out")
        }
    }

    @Test("Many readers in one process share connections, and each has the issue")
    func fleet() async throws {
        try await Self.withReader { run in
            let api = run.loop.provider.api
            let key: PushSupport.JSONValue = [
                "name": "fleet", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)],
            ]
            var configuration = ReaderConfiguration(
                app: try Martlet.Configuration(
                    provider: try #require(URL(string: api.baseURL)),
                    app: Vectors.bundleID,
                    key: try #require(try await api.post("/v1/keys", key).json["key"].stringValue)
                )
            )
            configuration.registrationKey = Self.door
            configuration.rules.isDevelopment = true
            var identities: [DeviceIdentity] = []
            for _ in 0..<20 { identities.append(try await run.loop.activate()) }
            var link = DeviceConfiguration(port: run.loop.gateway.addresses.main.deviceLink)
            link.bePatient()
            let fleet = try ReaderFleet(
                configuration,
                connections: 8,
                link: link,
                identities: identities,
                logger: silentLogger,
                print: { _ in }
            )
            try await withServices([fleet]) {
                _ = try await fleet.perform(.wait(.registered, count: 20, seconds: 1200))
                let publication = try await run.addPublication()
                let issue = try await run.publish(
                    "dev_test.issue7",
                    "2026-11-20",
                    in: publication,
                    content: Self.content
                )
                try await run.notify(issue)
                _ = try await fleet.perform(.wait(.downloaded, count: 20, seconds: 1200))
                let counts = fleet.counts.counts
                #expect(counts.downloaded == 20)
                #expect(counts.bytes == 6_000_000)
                // A push whose response was late comes again.
                #expect(counts.woken >= 20)
            }
        }
    }
}
