import PushSender
import ServiceLifecycle

/// Sends one notification to many tokens without a provider, and reports each outcome.
actor DirectSend: Service {
    /// Tokens read and sent at a time.
    private static let page = 5000

    private let sender: Sender
    private let push: DirectPush
    private var tokens: TokenSource
    private let report: OutcomeReport
    private var isComplete = false

    init(sender: Sender, push: DirectPush, tokens: TokenSource, report: sending OutcomeReport) {
        self.sender = sender
        self.push = push
        self.tokens = tokens
        self.report = report
    }

    /// Whether the last token was reached, every one got its push, and somebody heard of it.
    var allAccepted: Bool { self.isComplete && self.report.allAccepted && self.report.hasReader }

    /// Ends when every token has its outcome. A graceful shutdown lets what is in flight end, and takes back the rest.
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
        while !page.isEmpty, self.report.hasReader, !Task.isShuttingDownGracefully {
            let valid = page.filter { $0.token != nil }
            for entry in page where entry.token == nil { self.report.addInvalid(entry) }
            for await result in self.sender.results(of: valid.compactMap { $0.token.map(self.push.push(to:)) }) {
                self.report.add(result.outcome, for: valid[result.index])
            }
            page = try self.tokens.next(Self.page)
        }
        self.isComplete = page.isEmpty
    }
}
