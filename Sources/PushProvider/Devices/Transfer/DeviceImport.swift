package import NIOCore
package import PushStore
package import PushSupport

/// Registers the devices of a file, a batch in one transaction each. The same file again registers nothing twice.
package struct DeviceImport: Sendable {
    /// Bytes that are read before what they hold is registered; a larger buffer is taken in parts.
    private static let piece = 64 * 1024

    private let store: any DeviceStore
    private let app: Int64
    private let format: TransferFormat
    private let time: any TimeSource

    package init(store: any DeviceStore, app: Int64, format: TransferFormat, time: any TimeSource) {
        self.store = store
        self.app = app
        self.format = format
        self.time = time
    }

    /// - Parameters:
    ///   - bytes: the file, in buffers of any size.
    ///   - progress: told after each batch.
    /// - Throws: ``ImportInterruption``.
    package func run<Bytes: AsyncSequence>(
        _ bytes: Bytes,
        progress: @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws -> ImportReport where Bytes.Element == ByteBuffer {
        var reader = RegistrationReader(self.format)
        var batch = Batch()
        do {
            for try await buffer in bytes {
                var buffer = buffer
                while let piece = buffer.readSlice(length: min(Self.piece, buffer.readableBytes)),
                    piece.readableBytes > 0
                {
                    try batch.add(try reader.feed(piece.readableBytesView))
                    try await self.register(&batch, atLeast: TransferLimits.batch, progress)
                }
            }
            try batch.add(try reader.finish())
            try await self.register(&batch, atLeast: 1, progress)
        } catch {
            throw ImportInterruption(progress: batch.report.progress, cause: error)
        }
        progress(batch.report.progress)
        return batch.report
    }

    /// Registers in transactions of ``TransferLimits/batch`` while there are `count` or more to do.
    private func register(
        _ batch: inout Batch,
        atLeast count: Int,
        _ progress: @Sendable (ImportProgress) -> Void
    ) async throws {
        while batch.registrations.count >= count {
            let next = Array(batch.registrations.prefix(TransferLimits.batch))
            let results = try await self.store.register(
                next.map(\.registration),
                app: self.app,
                now: self.time.now
            )
            batch.registrations.removeFirst(next.count)
            batch.count(results, of: next)
            progress(batch.report.progress)
        }
    }

    /// What has been read and not yet registered, and what became of the rest.
    private struct Batch {
        var registrations: [(line: Int, registration: DeviceRegistration)] = []
        var report = ImportReport()

        mutating func add(_ records: [RegistrationReader.Record]) throws {
            try Task.checkCancellation()
            for record in records {
                self.report.progress.lines += 1
                switch record.content {
                case .success(let registration): self.registrations.append((record.line, registration))
                case .failure(let refusal): self.report.add(refusal, line: record.line)
                }
            }
        }

        mutating func count(
            _ results: [RegistrationResult],
            of registrations: [(line: Int, registration: DeviceRegistration)]
        ) {
            for (result, registered) in zip(results, registrations) {
                switch result.kind {
                case .refused(let excess): self.report.add(RequestError(excess), line: registered.line)
                case .added: self.report.progress.added += 1
                case .refreshed: self.report.progress.refreshed += 1
                case .tokenReplaced: self.report.progress.replaced += 1
                }
            }
        }
    }
}

/// How far an import has got, in records.
package struct ImportProgress: Hashable, Sendable, Codable {
    /// Read so far, without header and empty lines.
    package var lines = 0
    /// New devices.
    package var added = 0
    package var refreshed = 0
    /// Installations whose token has changed.
    package var replaced = 0
    package var refused = 0

    /// On disk.
    package var registered: Int { self.added + self.refreshed + self.replaced }

    package init() {}
}

/// What became of an import.
package struct ImportReport: Hashable, Sendable {
    package var progress = ImportProgress()
    /// The first ``TransferLimits/maximumRefusals``.
    package var refusals: [ImportError] = []

    package init() {}

    mutating func add(_ refusal: RequestError, line: Int) {
        self.progress.refused += 1
        guard self.refusals.count < TransferLimits.maximumRefusals else { return }
        self.refusals.append(ImportError(refusal, line: line))
    }
}

/// Why a record was not registered.
package struct ImportError: Hashable, Sendable, Codable {
    /// Where it begins, from 1.
    package var line: Int
    package var code: String
    package var message: String
    /// The member or column at fault.
    package var field: String?

    /// Shorter than any whole token, should one stand where a name belongs.
    private static let maximumField = 48

    init(_ refusal: RequestError, line: Int) {
        self.line = line
        self.code = refusal.code
        self.message = refusal.message
        self.field = refusal.path.map { $0.count > Self.maximumField ? "\($0.prefix(Self.maximumField))…" : $0 }
    }
}

/// An import that did not reach the end of its file. What is registered stays; the whole file may be sent again.
package struct ImportInterruption: Error, CustomStringConvertible {
    package var progress: ImportProgress
    /// What the store, or the source of the bytes, threw; an ``RequestError`` of the header row.
    package var cause: any Error

    package var description: String {
        """
        the import stopped after \(self.progress.lines) lines: \(self.progress.registered) devices are registered, \
        \(self.progress.refused) lines were refused; send the file again, nothing is registered twice
        """
    }
}
