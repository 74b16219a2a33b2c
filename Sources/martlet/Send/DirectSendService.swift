import PushSender
import ServiceLifecycle

/// Sends one notification to many tokens without a provider, and reports each outcome.
actor DirectSendService: Service {
    /// The number of tokens that are read and sent at a time.
    private static let page = 5000

    private let sender: Sender
    private let push: DirectPush
    private var tokens: TokenSource
    private let report: OutcomeReport
    /// A value that is true once the last token was sent to.
    private var isComplete = false

    init(sender: Sender, push: DirectPush, tokens: TokenSource, report: sending OutcomeReport) {
        (self.sender, self.push, self.tokens, self.report) = (sender, push, tokens, report)
    }

    /// The status of the run: whether a push to every token was accepted, and every outcome was printed.
    var status: ExitStatus {
        guard self.isComplete, self.report.isOpen else { return .failed }
        return self.report.isEmpty ? .nobodyReached : self.report.allAccepted ? .done : .failed
    }

    /// Sends until every token has its outcome. A graceful shutdown waits for what is in flight only.
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

    /// Sends page by page, and reports each outcome as it arrives.
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
