import Foundation
public import Logging
public import ServiceLifecycle

/// Re-reads a credential when its files change, so that a renewed certificate needs no restart.
///
/// The first look always reads, so that a change since the start is not missed. A file that is broken, perhaps because
/// it is half written, is logged once and read again every time; meanwhile the old credential stays in use.
public actor CredentialWatch: Service {
    private let file: CredentialFile
    private let interval: Duration
    private let logger: Logger
    private let handler: @Sendable (PushCredential) async -> Void
    /// The files as they were when they were last read well.
    private var loaded: [FileState?]?
    private var lastError: CredentialError?

    /// - Parameter interval: between two looks at the files.
    /// - Parameter handler: gets what was read, which may be the credential it has; ``PushCredential/identity`` tells.
    public init(
        _ file: CredentialFile,
        interval: Duration = .seconds(60),
        logger: Logger,
        handler: @escaping @Sendable (PushCredential) async -> Void
    ) {
        self.file = file
        self.interval = interval
        self.logger = logger
        self.handler = handler
    }

    /// Looks at the files every interval until graceful shutdown or cancellation.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.check()
                try? await Task.sleep(for: self.interval)
            }
        }
    }

    /// Reads the files if they changed and hands the credential on; `false` if nothing was handed on.
    @discardableResult
    public func check() async -> Bool {
        // Taken before reading: what changes meanwhile is seen the next time.
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
                    "credential cannot be used, the old one stays",
                    metadata: ["file": "\(self.file)", "error": "\(error)"]
                )
            }
            self.lastError = error
            return false
        }
    }
}

/// What changes when a file is written or replaced, or when a link to it turns to another one.
private struct FileState: Hashable {
    var modified: Date?
    var size: Int?
    var node: Int?

    /// `nil` if there is no such file.
    init?(_ path: String) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return nil }
        self.modified = attributes[.modificationDate] as? Date
        self.size = attributes[.size] as? Int
        self.node = attributes[.systemFileNumber] as? Int
    }
}
