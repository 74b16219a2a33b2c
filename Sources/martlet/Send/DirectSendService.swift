import Foundation
import PushSender
import PushTypes
import ServiceLifecycle

/// Sends one notification to many tokens without a provider, and reports each outcome.
actor DirectSendService: Service {
    /// The maximum number of tokens that are read at a time, before pushes are sent to them.
    private static let page = 5000

    private let sender: Sender
    private let push: DirectPush
    private var tokens: TokenSource
    private let report: OutcomeReport
    /// A Boolean value that indicates whether all tokens have been processed.
    private var isComplete = false

    init(sender: Sender, push: DirectPush, tokens: TokenSource, report: sending OutcomeReport) {
        (self.sender, self.push, self.tokens, self.report) = (sender, push, tokens, report)
    }

    /// The exit status of the command. It is ``ExitStatus/done`` only if a push to every token was accepted and every
    /// outcome was printed.
    var status: ExitStatus {
        guard self.isComplete, self.report.isOpen else { return .failed }
        return self.report.isEmpty ? .nobodyReached : self.report.allAccepted ? .done : .failed
    }

    /// Sends until every token has an outcome. A graceful shutdown waits only for the pushes that were sent already.
    func run() async throws {
        let sender = self.sender
        try await withGracefulShutdownHandler {
            try await self.sendAll()
        } onGracefulShutdown: {
            Task { await sender.close() }
        }
        await sender.close()
        self.report.finish()
    }

    private func sendAll() async throws {
        var page = try self.tokens.next(Self.page)
        while !page.isEmpty, self.report.isOpen, !Task.isShuttingDownGracefully {
            let valid = page.filter { $0.token != nil }
            for entry in page where entry.token == nil { try self.report.add(.invalid, for: entry) }
            for await result in self.sender.results(of: valid.compactMap { $0.token.map(self.push.push(to:)) }) {
                try self.report.add(OutcomeText(result.outcome), for: valid[result.index])
            }
            page = try self.tokens.next(Self.page)
        }
        self.isComplete = page.isEmpty
    }
}

/// Reads device tokens from the command line or a file, page by page. Empty lines and lines that begin with `#` are
/// skipped. A line that is too long or is not a token is reported with its number and does not stop the run.
struct TokenSource {
    /// One line of the source, with the token that it contains.
    struct Entry {
        var line: Int
        var text: String
        /// The device token, or `nil` if the line is not a device token.
        var token: DeviceToken?
    }

    private static let maximumLine = 4096
    private static let chunk = 1 << 16

    /// The file, or `nil` once its end was reached, and for tokens from the command line.
    private var file: FileHandle?
    /// The bytes that were read but not yet split into lines.
    private var rest: [UInt8] = []
    private var line = 0

    init(tokens: [String]) { self.rest = Array(tokens.map { $0 + "\n" }.joined().utf8) }

    /// Creates a source of tokens from a file.
    /// - Parameter path: The path of the file, or `-` for standard input.
    /// - Throws: ``SettingsError`` for a file that cannot be opened.
    init(file path: String) throws { self.file = try InputFile.open(path, for: "--tokens") }

    /// Returns the number of lines of a regular file, or `nil` for a pipe, because counting would consume its lines.
    static func count(file path: String) -> Int? {
        guard InputFile.size(path) != nil, let handle = try? FileHandle(forReadingFrom: URL(filePath: path))
        else { return nil }
        defer { try? handle.close() }
        var lines = 0
        while let data = try? handle.read(upToCount: Self.chunk), !data.isEmpty {
            lines += data.count { $0 == UInt8(ascii: "\n") }
        }
        return lines
    }

    /// Returns the next entries, or an empty array at the end of the source.
    /// - Parameter limit: The maximum number of entries.
    mutating func next(_ limit: Int) throws -> [Entry] {
        var entries: [Entry] = []
        var start = 0
        while entries.count < limit {
            guard let end = self.rest[start...].firstIndex(of: UInt8(ascii: "\n")) else {
                self.rest.removeFirst(start)
                start = 0
                if try self.fill() { continue }
                if !self.rest.isEmpty { self.append(self.rest[...], to: &entries) }
                self.rest = []
                return entries
            }
            self.append(self.rest[start..<end], to: &entries)
            start = end + 1
        }
        self.rest.removeFirst(start)
        return entries
    }

    /// Reads the next chunk of the file. Returns `true` if there was one, and `false` at the end of the file.
    private mutating func fill() throws -> Bool {
        guard let data = try self.file?.read(upToCount: Self.chunk), !data.isEmpty else {
            self.file = nil
            return false
        }
        // Only the start of an overlong line is kept: it is not a token.
        if self.rest.count > Self.maximumLine { self.rest.removeLast(self.rest.count - Self.maximumLine) }
        self.rest += data
        return true
    }

    /// Appends the entry of a line, unless the line is empty or a comment.
    private mutating func append(_ bytes: ArraySlice<UInt8>, to entries: inout [Entry]) {
        self.line += 1
        let text = String(decoding: bytes.prefix(Self.maximumLine), as: UTF8.self)
            .trimmingCharacters(in: .whitespaces.union(.controlCharacters))
        guard !text.isEmpty, !text.hasPrefix("#") else { return }
        entries.append(Entry(line: self.line, text: text, token: DeviceToken(userInput: text)))
    }
}
