import AppSimulator
import Crypto
import Foundation
import MartletKit
import PushDevice
import PushGateway
import PushSupport
import ServiceLifecycle

/// The publisher's demo, in which readers download the first of two issues, and skip the second on the same day.
struct DemoPublisher: Sendable {
    /// The number of readers whose steps are only counted, in addition to the one whose steps are printed.
    static let others = 4
    /// The number of devices in a wave of notifications, and the seconds between two waves.
    static let (waveSize, waveSeconds) = (2, 1)
    static let issues = [
        (product: "com.example.issue7", title: "Issue 7", number: "7", date: "2026-11-20"),
        (product: "com.example.issue8", title: "Issue 8", number: "8", date: "2026-11-27"),
    ]
    static let fileSize = 3_000_000
    /// The cover of an issue: an image of one pixel, in base64.
    private static let cover =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    let loop: DemoLoop
    private var narrator: DemoNarrator { self.loop.narrator }

    // MARK: - The readers

    private func configuration() throws -> ReaderConfiguration {
        guard let url = URL(string: self.loop.providerURL) else {
            throw SettingsError("\(self.loop.providerURL) is no URL")
        }
        let app = try MartletKit.Martlet.Configuration(provider: url, app: DemoLoop.bundleID, key: self.loop.publicKey)
        var configuration = ReaderConfiguration(app: app)
        configuration.registrationKey = DemoLoop.registrationKey
        configuration.environment = self.loop.environment
        return configuration
    }

    /// Starts one reader whose steps are printed, and others whose steps are counted.
    /// - Parameter start: A closure that starts a service.
    func startReaders(_ start: (any Service) async -> Void) async throws -> (reader: Reader, others: ReaderFleet) {
        let link = DeviceConfiguration(port: self.loop.gatewayPorts.main.deviceLink)
        let activation = DeviceActivation(adminURL: try self.loop.admin.baseURL)
        let (narrator, logger) = (self.narrator, self.loop.log.logger("device"))
        let reader = try await ReaderCommand.reader(
            try self.configuration(),
            directory: "\(self.loop.directory)/reader",
            link: link,
            activation: activation,
            logger: logger
        ) { narrator.report($0) }
        await start(reader)
        try await Self.perform(.wait(.registered, count: 1, seconds: DemoLoop.patience), reader)
        let others = try await ReaderCommand.fleet(
            try self.configuration(),
            connections: Self.others,
            link: link,
            files: (1...Self.others).map { IdentityFile(path: "\(self.loop.directory)/readers/\($0).json") },
            activation: activation,
            logger: logger
        ) { _ in }
        await start(others)
        try await Self.perform(.wait(.registered, count: Self.others, seconds: DemoLoop.patience), others)
        narrator.report(.phone, "\(Self.others) other readers have registered by the form too")
        return (reader, others)
    }

    // MARK: - The publisher

    /// Adds the publication to the app.
    /// - Returns: The id of the publication.
    func addPublication() async throws -> String {
        let waves = PushSupport.JSONValue.object([
            "size": .integer(Int64(Self.waveSize)), "intervalSeconds": .integer(Int64(Self.waveSeconds)),
        ])
        let request = APIRequest.post("apps", DemoLoop.bundleID, "publications")
            .body(["name": "The Example", "waves": waves])
        let publication = try await self.loop.provider.send(request)
        self.narrator.report(.publisher, "publication The Example, notified in waves of \(Self.waveSize)")
        return publication["id"].stringValue ?? ""
    }

    /// Adds an issue with its file and its cover, and publishes it.
    /// - Parameter number: The index of the issue in ``issues``.
    /// - Returns: The id of the issue.
    func publish(_ number: Int, in publication: String) async throws -> String {
        let (provider, issue) = (try self.loop.provider, Self.issues[number])
        let added = try await provider.send(
            .post("publications", publication, "issues").body([
                "productId": issue.product.json, "title": issue.title.json, "number": issue.number.json,
                "date": issue.date.json,
            ])
        )
        let id = added["id"].stringValue ?? ""
        self.narrator.report(
            .publisher,
            "\(issue.title), product \(issue.product): \(added["state"].stringValue ?? "?")"
        )
        let content = Data((0..<Self.fileSize).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        let file = try await self.upload(content, type: "application/zip", name: "\(issue.number).zip")
        try await provider.send(.put("issues", id, "renditions", "2048x1536").body(["file": file.json]))
        let cover = try await self.upload(
            Data(base64Encoded: Self.cover) ?? Data(),
            type: "image/png",
            name: "cover.png"
        )
        try await provider.send(.put("issues", id, "cover").body(["file": cover.json]))
        let size = ByteText.of(Int64(content.count))
        self.narrator.report(.publisher, "file of \(size) for 2048x1536 and cover uploaded, SHA-256 checked")
        let published = try await provider.send(.post("issues", id).action("publish"))
        self.narrator.report(.publisher, "\(issue.title) is \(published["state"].stringValue ?? "?")")
        return id
    }

    /// Uploads a file in one request.
    /// - Returns: The SHA-256 of the file, in hexadecimal digits.
    private func upload(_ content: Data, type: String, name: String) async throws -> String {
        let hash = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
        let begun = try await self.loop.provider.send(
            .post("apps", DemoLoop.bundleID, "uploads").body([
                "size": .integer(Int64(content.count)), "sha256": hash.json, "contentType": type.json,
                "name": name.json,
            ])
        )
        guard begun["complete"] != true, let id = begun["id"].stringValue else { return hash }
        guard let url = URL(string: "\(self.loop.providerURL)/v1/uploads/\(id)") else { return hash }
        let headers = [
            "authorization": "Bearer \(self.loop.apiKey)", "content-type": "application/partial-upload",
            "upload-offset": "0",
        ]
        let request = TransportRequest(method: "PATCH", url: url, headers: headers, body: content)
        let response = try await HTTPClientTransport().send(request)
        guard response.status == 200 else {
            throw SettingsError("the upload was refused: \(String(decoding: response.body, as: UTF8.self))".printable)
        }
        return hash
    }

    /// Notifies the readers of an issue, and waits until the resulting notification has finished.
    func notify(_ number: Int, issue id: String) async throws {
        let provider = try self.loop.provider
        let accepted = try await provider.send(.post("issues", id).action("notify"))
        guard let notification = accepted["id"].stringValue else {
            throw SettingsError("the provider returned no notification")
        }
        self.narrator.report(.publisher, "Notify \(Self.issues[number].title): notification \(notification)")
        let end = try await provider.end(ofNotification: notification, within: .seconds(60))
        guard end.isDoneAndAccepted else { throw SettingsError("the notification was not accepted: \(try end.line)") }
        let waves = (Self.others + Self.waveSize) / Self.waveSize
        self.narrator.report(.provider, "\(Self.others + 1) devices notified in \(waves) waves")
    }

    // MARK: - The story

    /// Performs the publisher's steps in order, and waits for the effect of each on the readers.
    func run(_ reader: Reader, _ others: ReaderFleet) async throws {
        let publication = try await self.addPublication()
        let first = try await self.publish(0, in: publication)
        try await self.notify(0, issue: first)
        try await Self.perform(.wait(.downloaded, count: 1, seconds: 60), reader)
        try await Self.perform(.wait(.downloaded, count: Self.others, seconds: 60), others)
        self.narrator.report(.phone, "other readers: \(others.counts.counts.line)")
        try await self.showLibrary(reader)
        try await Self.perform(.open(product: nil), reader)
        try await Self.perform(.wait(.opened, count: 1, seconds: 10), reader)
        let second = try await self.publish(1, in: publication)
        try await self.notify(1, issue: second)
        try await Self.perform(.wait(.skipped, count: 1, seconds: 60), reader)
        try await Self.perform(.wait(.skipped, count: Self.others, seconds: 60), others)
        self.narrator.report(.phone, "other readers: \(others.counts.counts.line)")
        try await Self.perform(.activate, reader)
        try await self.showLibrary(reader)
    }

    private func showLibrary(_ reader: Reader) async throws {
        let lines = try await reader.perform(.library)?.lines ?? []
        StandardOutput.line("\n\(lines.map { "    \($0)" }.joined(separator: "\n"))\n")
    }

    /// Executes a command on one reader or on a fleet.
    /// - Throws: ``SettingsError`` for a command that fails or times out.
    private static func perform(_ command: LibraryCommand, _ phone: some PhoneCommandHandler<LibraryCommand>)
        async throws
    {
        do {
            _ = try await phone.perform(command)
        } catch let error as WaitError {
            throw SettingsError("a step of the demo did not happen: \(error)".printable)
        } catch let error as PhoneError {
            throw SettingsError("a step of the demo did not happen: \(error)".printable)
        }
    }
}
