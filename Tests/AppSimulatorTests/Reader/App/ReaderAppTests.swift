import Crypto
import Foundation
import MartletKit
import PushTesting
import Synchronization
import Testing

@testable import AppSimulator

/// The app of a reader with a publisher that is scripted: no network, and waits that end at once.
@Suite("The app of a reader", .timeLimit(.patience)) struct ReaderAppTests {
    /// An app, its publisher, and the events up to now.
    private struct Run {
        let publisher = ScriptedPublisher()
        let time = ManualTime()
        let folder: String
        let app: ReaderApp
        private let events: AsyncStream<ReaderEvent>

        init(folder: String, publisher: ScriptedPublisher? = nil) throws {
            self.folder = folder
            let provider = try #require(URL(string: "http://127.0.0.1:8080"))
            let settings = try Martlet.Configuration(provider: provider, app: "com.example.MyApp", key: "mk_public_x")
            var configuration = ReaderConfiguration(app: settings)
            configuration.transport = publisher ?? self.publisher
            let (events, continuation) = AsyncStream<ReaderEvent>.makeStream()
            self.events = events
            let time = self.time
            self.app = try ReaderApp(
                configuration,
                storage: try ReaderFolder(folder),
                time: time,
                sleep: { time.advance(by: $0) },
                report: { continuation.yield($0) }
            )
        }

        /// Waits for an event.
        func event(_ matches: (ReaderEvent) -> Bool) async -> ReaderEvent? {
            for await event in self.events where matches(event) { return event }
            return nil
        }

        /// Waits until the issue is here.
        func downloaded() async { _ = await self.event { if case .downloaded = $0 { true } else { false } } }

        /// Wakes the app and waits until the issue is here.
        func download(_ product: String) async {
            await self.app.wake(IssuePush(product: product))
            await self.downloaded()
        }
    }

    @Test("The file of an issue is in the folder, whole, and its library has the mark")
    func file() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            run.publisher.publish("issue7")
            await run.download("issue7")
            let issue = try #require(await run.app.state.issue("issue7"))
            let file = try #require(issue.file)
            let content = try Data(contentsOf: ReaderFolder(folder).file(file))
            #expect(content.count == 5000 && issue.isMarked)
            #expect(SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined() == file.sha256)
            #expect(run.publisher.paths.dropLast() == ["catalogue", "entitlements", "issue7:download"])
            #expect(await run.app.open("issue7"))
            #expect(await run.app.state.issue("issue7")?.isMarked == false)
            #expect(await run.app.open("issue6") == false)
        }
    }

    @Test("A download that breaks off twice goes on each time where it was")
    func resumed() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            run.publisher.publish("issue7")
            run.publisher.breakOff(after: 2000)
            run.publisher.breakOff(after: 1000)
            await run.download("issue7")
            #expect(run.publisher.requests.compactMap { $0.headers["range"] } == ["bytes=2000-", "bytes=3000-"])
        }
    }

    @Test("Another process goes on with what the first has left")
    func resumedByAnother() async throws {
        try await withTemporaryDirectory { folder in
            let first = try Run(folder: folder)
            first.publisher.publish("issue7")
            first.publisher.breakOff(after: 2000)
            first.publisher.answer("file", 503)
            await first.app.wake(IssuePush(product: "issue7"))
            _ = await first.event { if case .waiting = $0 { true } else { false } }
            await first.app.end()
            let second = try Run(folder: folder, publisher: first.publisher)
            await second.app.launch()
            await second.downloaded()
            #expect(await second.app.state.issue("issue7")?.status == .downloaded)
            let last = first.publisher.requests.last { $0.url.path.contains("/files/") }
            #expect(last?.headers["range"] == "bytes=2000-")
        }
    }

    @Test("A file with other bytes is asked for twice from the beginning, and leaves nothing")
    func forged() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            run.publisher.publish("issue7")
            run.publisher.forge(Data(count: 5000))
            await run.app.wake(IssuePush(product: "issue7"))
            _ = await run.event { if case .failed = $0 { true } else { false } }
            #expect(run.publisher.requests.count { $0.url.path.contains("/files/") } == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/files") == [])
        }
    }

    @Test("A busy server and an address that has expired are overcome")
    func refused() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            run.publisher.publish("issue7")
            run.publisher.answer("file", 503, headers: ["retry-after": "9"])
            let expired = #"{"error":{"code":"address_expired","message":"ask again"}}"#
            run.publisher.answer("file", 403, expired)
            await run.download("issue7")
            #expect(run.publisher.paths.count { $0 == "issue7:download" } == 2)
        }
    }

    @Test("Without Wi-Fi a download stops, and goes on with it")
    func network() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            run.publisher.publish("issue7")
            await run.app.setNetwork(.cellular)
            await run.app.wake(IssuePush(product: "issue7"))
            let event = await run.event { if case .skipped = $0 { true } else { false } }
            #expect(event == .skipped(product: "issue7", .notOnWiFi))
            #expect(run.publisher.requests == [])
            await run.app.setNetwork(.wifi)
            await run.download("issue7")
        }
    }

    @Test("A folder whose state is none is named, and one without a state begins with nothing")
    func damagedFolder() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            #expect(await run.app.state.library == [])
            try "{}".write(toFile: "\(folder)/reader.json", atomically: true, encoding: .utf8)
            let error = #expect(throws: PhoneError.self) { try Run(folder: folder) }
            #expect(error?.description.contains("reader.json has no reader") == true)
        }
    }

    @Test("The registration is the form of the text, with the bits of what the user allows")
    func form() async throws {
        try await withTemporaryDirectory { folder in
            let run = try Run(folder: folder)
            try await run.app.register(token: [1, 2, 255], capabilities: [.badge, .background])
            let request = try #require(run.publisher.requests.first)
            #expect(
                request.url.absoluteString
                    == "http://127.0.0.1:8080/compat/publisher/com.example.MyApp/register?environment=sandbox"
            )
            let body = String(decoding: request.body, as: UTF8.self)
            let id = await run.app.state.deviceID.uuidString
            for (name, value) in [
                ("devId", id), ("token", "AQL/"), ("badgeEnabled", "1"), ("soundEnabled", "0"), ("alertEnabled", "0"),
                ("newsstandEnabled", "8"), ("screenSize", "2048x1536"),
            ] { #expect(body.contains("name=\"\(name)\"\r\n\r\n\(value)\r\n--"), "\(name)") }
            run.publisher.answer("register", 403, "unknown")
            await #expect(throws: NewsstandError.refused(code: "status 403", message: "unknown")) {
                try await run.app.register(token: [1], capabilities: [])
            }
        }
    }
}
