import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTesting
import Testing

@testable import ProviderAPI

/// The errors that people see for failures of a page, and the lines of the log for them.
@Suite struct FailureReporterTests {
    private let log = RecordedLog()
    private var failures: FailureReporter {
        let start = ContinuousClock.now
        let metrics = RequestMetrics(factory: PrometheusRegistry([]))
        return FailureReporter(metrics: metrics, lines: Budget(.logLines) { start }, logger: self.log.logger)
    }

    /// Before, each was an error line of its own.
    @Test func aClientThatHasGoneIsNoError() {
        let failures = self.failures
        for _ in 0..<1000 {
            let (broken, _) = failures.pageFailure(HTTPParserError.invalidEOFState, [:])
            #expect(broken.kind == .invalid)
            let (gone, _) = failures.pageFailure(CancellationError(), [:])
            #expect(gone.code == "client_gone")
        }
        #expect(self.log.lines.isEmpty)
    }

    @Test func aFullDiskIsTemporary() {
        let (error, headers) = self.failures.pageFailure(StoreError.cannotWrite(why: "full"), [:])
        #expect(error.kind == .unavailable)
        #expect(error.code == "storage_unavailable")
        #expect(headers[.retryAfter] == "5")
        // The log has the cause, which strangers do not see.
        #expect(!error.message.contains("full") && self.log.lines.contains { $0.contains("error=full") })
    }

    /// An app that is deleted between its look-up and what is written is no failure of the server.
    @Test func whatIsRemovedMeanwhileIsNotFound() {
        let (error, _) = self.failures.pageFailure(StoreError.ownerRemoved(.app), [:])
        #expect(error.kind == .notFound)
        #expect(error.code == "removed_meanwhile")
        #expect(self.log.lines.isEmpty)
    }

    @Test func aClientThatHasGoneIsNotCountedAsThrottled() {
        let registry = PrometheusRegistry([])
        let failures = FailureReporter(
            metrics: RequestMetrics(factory: registry),
            lines: Budget(.logLines),
            logger: silentLogger
        )
        for error in [CancellationError(), IOError(errnoCode: ECONNRESET, reason: "read")] as [any Error] {
            #expect(failures.pageFailure(error, [:]).0.code == "client_gone")
        }
        #expect(!registry.text.contains("client_gone"))
    }

    @Test func aRefusalIsTemporary() {
        let (error, headers) = self.failures.pageFailure(BudgetRefusal(.queries, .app), [:])
        #expect(error.kind == .rateLimited)
        #expect(headers[.retryAfter] == "2")
    }

    @Test func failuresFillNoLog() {
        let failures = self.failures
        for _ in 0..<1000 { _ = failures.pageFailure(UnknownFailure(), [:]) }
        #expect(self.log.lines.count == 30)
    }
}

private struct UnknownFailure: Error {}
