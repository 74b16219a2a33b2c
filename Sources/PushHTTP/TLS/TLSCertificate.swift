import Foundation
package import Logging
import NIOSSL
import PushSupport
import ServiceLifecycle
import Synchronization

/// The certificate of a TLS listener, which is reloaded when its files are renewed.
///
/// New connections use the new certificate, while open connections continue. If the files are unusable, for example
/// half-written, the old certificate stays in use, and the error is logged once.
package final class TLSCertificate: Service {
    private struct State {
        var context: NIOSSLContext
        var loaded: [FileState?]
        var lastError: TLSFilesError?
    }

    private let files: TLSFiles
    private let interval: Duration
    private let logger: Logger
    private let state: Mutex<State>

    /// Loads the certificate from its files.
    /// - Parameter interval: The time between two checks for renewed files.
    /// - Throws: ``TLSFilesError`` for files that cannot be used.
    package init(_ files: TLSFiles, interval: Duration = .seconds(10), logger: Logger) throws {
        (self.files, self.interval, self.logger) = (files, interval, logger)
        let loaded = Self.state(of: files)
        let (context, expiry) = try files.load()
        self.state = Mutex(State(context: context, loaded: loaded))
        self.warnIfExpired(expiry)
    }

    var context: NIOSSLContext { self.state.withLock { $0.context } }

    /// Checks for renewed files at each interval, until graceful shutdown or cancellation.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.check()
                try? await Task.sleep(for: self.interval, clock: .continuous)
            }
        }
    }

    /// Reloads the certificate if its files have changed and can be used. Returns `true` if it was reloaded.
    @discardableResult
    package func check() -> Bool {
        // The state is taken first, so that a change during the loading is noticed at the next check.
        let now = Self.state(of: self.files)
        guard self.state.withLock({ $0.loaded != now }) else { return false }
        do {
            let (context, expiry) = try self.files.load()
            self.state.withLock { $0 = State(context: context, loaded: now) }
            self.logger.info("certificate of the API was renewed", metadata: ["file": "\(self.files.certificate)"])
            self.warnIfExpired(expiry)
            return true
        } catch {
            let isNew = self.state.withLock { state in
                defer { state.lastError = error }
                return state.lastError != error
            }
            if isNew {
                self.logger.warning(
                    "new certificate of the API cannot be used, the old one stays in use",
                    metadata: ["error": "\(error)"]
                )
            }
            return false
        }
    }

    private func warnIfExpired(_ expiry: Date?) {
        guard let expiry, expiry <= .now else { return }
        self.logger.warning(
            "certificate of the API has expired: clients reject it",
            metadata: ["file": "\(self.files.certificate)", "expired": "\(expiry.ISO8601Format())"]
        )
    }

    private static func state(of files: TLSFiles) -> [FileState?] {
        [files.certificate, files.key].map(FileState.init)
    }
}
