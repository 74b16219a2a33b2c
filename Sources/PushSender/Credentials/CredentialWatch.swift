public import Logging
import PushSupport
public import ServiceLifecycle

/// A service that reads a credential again when its files change, so that a renewed certificate requires no restart.
///
/// The first check always reads the files, because they may have changed since the sender was created. An error, such
/// as for a file that is not completely written, is logged once. The old credential then stays in use, and each check
/// reads the files until they can be used.
public actor CredentialWatch: Service {
    private let file: CredentialFile
    private let interval: Duration
    private let logger: Logger
    private let handler: @Sendable (PushCredential) async -> Void
    /// The state of the files when they were last read successfully.
    private var loaded: [FileState?]?
    private var lastError: CredentialError?

    /// Creates a watch, which checks nothing before ``run()`` or ``check()`` is called.
    /// - Parameters:
    ///   - file: The files to watch.
    ///   - interval: The time between two checks.
    ///   - logger: The logger for credentials that cannot be used.
    ///   - handler: A closure that receives each credential that was read, even if it is already in use (see
    ///     ``PushCredential/identity``).
    public init(
        _ file: CredentialFile,
        interval: Duration = .seconds(60),
        logger: Logger,
        handler: @escaping @Sendable (PushCredential) async -> Void
    ) {
        (self.file, self.interval, self.logger, self.handler) = (file, interval, logger, handler)
    }

    /// Checks the files at the interval until graceful shutdown or cancellation.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.check()
                try? await Task.sleep(for: self.interval)
            }
        }
    }

    /// Reads the files if they changed, and passes the credential to the handler.
    /// - Returns: `true` if the handler was called, and `false` if the files are unchanged or cannot be used.
    @discardableResult
    public func check() async -> Bool {
        // The state is taken before the files are read, so that a change in between is seen at the next check.
        let state = [self.file.path, self.file.keyFile].compactMap { $0 }.map(FileState.init)
        guard state != self.loaded else { return false }
        do {
            let credential = try self.file.load()
            self.loaded = state
            self.lastError = nil
            await self.handler(credential)
            return true
        } catch {
            if error != self.lastError {
                self.logger.error(
                    "credential cannot be used, the old one stays in use",
                    metadata: ["file": "\(self.file)", "error": "\(error)"]
                )
            }
            self.lastError = error
            return false
        }
    }
}
