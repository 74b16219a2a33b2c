import ArgumentParser
import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushSupport
import PushTypes

/// `martlet issue upload`: uploads the file of an issue. It resumes the upload after a lost connection.
struct IssueUploadCommand: AsyncParsableCommand {
    static let configuration = command("upload", "Upload the file of an issue for a screen size, or its cover.")
        .detail("After a lost connection it continues where it was, and sends nothing again that the provider has.")
        .detail("If the command is stopped, --upload continues with the id that it printed.")
        .detail("'martlet issue uploads' lists incomplete uploads.")
        .detail("The API key needs the scopes read and send.")
        .example("issue upload 7d6f… issue7.zip --screen 2048x1536")
        .example("issue upload 7d6f… cover.png --cover")

    /// The maximum number of consecutive failures without progress, after which the command fails.
    private static let maximumFailures = 8

    @OptionGroup var resource: ResourceOptions<IssueCommand.Issue>
    @Argument(help: "The file.") var file: String
    @Option(help: "The screen size in pixels, such as 2048x1536.") var screen: String?
    @Flag(help: "The file is the cover.") var cover = false
    @Option(help: "The media type. Default: an image's by its content, another's by its name.") var type: String?
    @Option(help: "The id of an upload to continue.") var upload: String?

    func validate() throws {
        guard (self.screen != nil) != self.cover else {
            throw ValidationError("Give --screen or --cover, one of both.")
        }
        guard self.screen.map({ ScreenSize($0) != nil }) ?? true else {
            throw ValidationError("--screen is a size in pixels, such as 2048x1536.")
        }
    }

    func run() async throws {
        let connection = try await self.resource.connection()
        guard let size = InputFile.size(self.file), size > 0 else {
            throw SettingsError("\(self.file) is no file with content", status: .usage)
        }
        let format = try self.imageFormat()
        guard !self.cover || format != nil else {
            let message = "\(self.file) is no image, and a cover is one: \(ImageFormat.names)"
            throw SettingsError(message, status: .usage)
        }
        let hash = try Self.hash(of: self.file)
        let id = try await self.begin(size, hash, format, connection)
        try await self.send(id, size, connection)
        let place = self.screen.map { ["renditions", $0] } ?? ["cover"]
        let set = APIRequest(.put, [IssueCommand.Issue.path, self.resource.id] + place).body(["file": hash.json])
        try self.resource.print(try await connection.send(set)) { IssueCommand.Issue.details($0) }
    }

    /// Begins an upload for the issue's app, or looks up the upload that the options specify.
    /// - Parameters:
    ///   - size: The size of the file, in bytes.
    ///   - hash: The SHA-256 of the file.
    ///   - format: The format of an image, or `nil` for any other file.
    /// - Returns: The id of the upload.
    private func begin(_ size: Int64, _ hash: String, _ format: ImageFormat?, _ connection: APIConnection)
        async throws -> String
    {
        if let upload {
            let known = try await connection.send(.get("uploads", upload))
            guard known["sha256"].stringValue == hash else {
                throw SettingsError("--upload: \(upload) is of another file", status: .usage)
            }
            return upload
        }
        let issue = try await connection.send(self.resource.request(.get))
        let publication = try await connection.send(
            .get(PublicationCommand.Publication.path, issue["publication"].stringValue ?? "")
        )
        let begun = try await connection.send(
            .post("apps", publication["app"].stringValue ?? "", "uploads").body([
                "size": .integer(size), "sha256": hash.json,
                "contentType": (self.type ?? format?.rawValue ?? self.mediaType).json,
                "name": URL(filePath: self.file).lastPathComponent.json,
            ])
        )
        let id = begun["id"].stringValue ?? ""
        if begun["complete"] != true { StandardError.line("upload \(id)") }
        return id
    }

    /// Sends the missing bytes of an upload. Failed requests are repeated as long as there is progress.
    private func send(_ id: String, _ size: Int64, _ connection: APIConnection) async throws {
        let status = StatusLine()
        defer { status.clear() }
        var (failures, last) = (0, Int64(0))
        while true {
            do {
                let upload = try await connection.send(.get("uploads", id))
                let offset = upload["offset"].integerValue ?? 0
                if upload["complete"] == true { return }
                if offset > last { (failures, last) = (0, offset) }
                let part = try FilePart(path: self.file, from: offset, size: size, status: status)
                let request = APIRequest(.patch, ["uploads", id]).header("upload-offset", "\(offset)")
                let type = "application/partial-upload"
                let sent = try await connection.client.upload(
                    part.chunks,
                    length: size - offset,
                    contentType: type,
                    to: request
                )
                if sent["complete"] == true { return }
            } catch let error where Self.mayPass(error) {
                failures += 1
                guard failures < Self.maximumFailures else {
                    StandardError.line("continue with --upload \(id)")
                    throw error
                }
                try await Task.sleep(for: .seconds(1 << min(failures, 5)))
            }
        }
    }

    /// Returns whether a repeated request may succeed after an error.
    private static func mayPass(_ error: any Error) -> Bool {
        if let error = error as? APIErrorResponse { return error.status == 409 || error.status >= 500 }
        return error is NoResponseError
    }

    private var mediaType: String {
        switch URL(filePath: self.file).pathExtension.lowercased() {
        case "zip", "folio": "application/zip"
        case "pdf": "application/pdf"
        case "epub": "application/epub+zip"
        default: "application/octet-stream"
        }
    }

    /// Returns the image format of the file, determined by its contents, or `nil` if the file is not an image.
    private func imageFormat() throws -> ImageFormat? {
        ImageFormat(Array(try InputFile.open(self.file).read(upToCount: ImageFormat.recognizedLength) ?? Data()))
    }

    private static func hash(of path: String) throws -> String {
        let file = try InputFile.open(path)
        var digest = SHA256()
        while let data = try file.read(upToCount: 1 << 20), !data.isEmpty { digest.update(data: data) }
        return Hexadecimal.encode(digest.finalize())
    }
}

/// The bytes of a file from an offset on, uploaded while they are read, with their progress shown on the terminal.
private struct FilePart: Sendable {
    private static let chunk = 1 << 16

    private let file: FileHandle
    private let start, size: Int64
    private let status: StatusLine

    init(path: String, from start: Int64, size: Int64, status: StatusLine) throws {
        self.file = try InputFile.open(path)
        try self.file.seek(toOffset: UInt64(clamping: start))
        (self.start, self.size, self.status) = (start, size, status)
    }

    /// The bytes in chunks, which can be iterated only once.
    var chunks: AsyncThrowingStream<ByteBuffer, any Error> {
        AsyncThrowingStream {
            guard let data = try self.file.read(upToCount: Self.chunk), !data.isEmpty else { return nil }
            let done = Int(clamping: (try? self.file.offset()) ?? 0) >> 10
            self.status.show(ProgressText.of(done: done, total: Int(clamping: self.size) >> 10) + " (KiB)")
            return ByteBuffer(bytes: data)
        }
    }
}
