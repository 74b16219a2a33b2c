package import NIOCore
import ProviderModel
package import PushSupport

/// Registers the devices of a file in batches, each in one transaction. Importing a file again adds no device twice.
package struct DeviceImport: Sendable {
    /// The maximum number of bytes that are parsed at a time. A larger buffer is split.
    private static let slice = 64 * 1024

    private let registrar: DeviceRegistrar
    private let app: Int64
    private let source: ImportSource
    private let defaults: ImportDefaults
    private let time: any TimeSource

    /// Creates an import. `defaults` are the values that another server's list does not contain.
    package init(
        registrar: DeviceRegistrar,
        app: Int64,
        source: ImportSource,
        defaults: ImportDefaults = ImportDefaults(),
        time: any TimeSource
    ) {
        (self.registrar, self.app, self.time) = (registrar, app, time)
        (self.source, self.defaults) = (source, defaults)
    }

    /// Imports a file, and returns the report about its records. Invalid records are skipped.
    /// - Parameters:
    ///   - bytes: The file, in buffers of any size.
    ///   - progress: Called after each batch, and at the end.
    /// - Throws: ``ImportInterruption`` if the file or its header row cannot be read, or a batch cannot be stored.
    package func run<Bytes: AsyncSequence>(
        _ bytes: Bytes,
        progress: @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws -> ImportReport where Bytes.Element == ByteBuffer {
        var reader = RegistrationReader(self.source, self.defaults)
        var batch = Batch()
        do {
            for try await buffer in bytes {
                var buffer = buffer
                while let slice = buffer.readSlice(length: min(Self.slice, buffer.readableBytes)),
                    slice.readableBytes > 0
                {
                    try batch.add(try reader.feed(slice.readableBytesView))
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

    /// Registers records while at least `count` are waiting, up to ``TransferLimits/batch`` in each transaction.
    private func register(
        _ batch: inout Batch,
        atLeast count: Int,
        _ progress: @Sendable (ImportProgress) -> Void
    ) async throws {
        while batch.registrations.count >= count {
            let next = Array(batch.registrations.prefix(TransferLimits.batch))
            let clocks = self.time.reading
            let registered = try await self.registrar.register(next.map(\.registration), app: self.app, at: clocks)
            batch.report.progress.underWay += registered.underWay ?? 0
            batch.registrations.removeFirst(next.count)
            batch.count(registered.results, of: next)
            progress(batch.report.progress)
        }
    }

    /// The records that were read and not registered yet, and the report about the earlier ones.
    private struct Batch {
        var registrations: [(line: Int, registration: DeviceRegistration)] = []
        var report = ImportReport()

        mutating func add(_ records: [RegistrationReader.Record]) throws {
            try Task.checkCancellation()
            for record in records {
                self.report.progress.lines += 1
                switch record.content {
                case .success(let registration): self.registrations.append((record.line, registration))
                case .failure(let error): self.report.add(error, line: record.line)
                }
            }
        }

        mutating func count(
            _ results: [RegistrationResult],
            of registrations: [(line: Int, registration: DeviceRegistration)]
        ) {
            for (result, registered) in zip(results, registrations) {
                switch result.kind {
                case .rejected(let excess): self.report.add(RequestError(excess), line: registered.line)
                case .added: self.report.progress.added += 1
                case .refreshed: self.report.progress.refreshed += 1
                case .tokenReplaced: self.report.progress.replaced += 1
                }
            }
        }
    }
}

/// The progress of an import, in records.
package struct ImportProgress: Hashable, Sendable, Codable {
    /// The number of records that were read, without the header row and empty lines.
    package var lines = 0
    /// The number of new devices.
    package var added = 0
    package var refreshed = 0
    /// The number of installations whose token has changed.
    package var replaced = 0
    package var refused = 0
    /// The number of pushes that could not be taken back, to devices whose preferences or user the import has changed,
    /// or that it has removed.
    package var underWay = 0

    /// The number of records that are on disk.
    package var registered: Int { self.added + self.refreshed + self.replaced }

    package init() {}
}

/// The result of an import: its progress, and the errors of the records that were rejected.
package struct ImportReport: Hashable, Sendable {
    package var progress = ImportProgress()
    /// The errors of the rejected records, limited to the first ``TransferLimits/maximumRefusals``.
    package var refusals: [ImportError] = []

    package init() {}

    mutating func add(_ error: RequestError, line: Int) {
        self.progress.refused += 1
        guard self.refusals.count < TransferLimits.maximumRefusals else { return }
        self.refusals.append(ImportError(error, line: line))
    }
}

/// The error of a record that was not registered.
package struct ImportError: Hashable, Sendable, Codable {
    /// The line on which the record begins, from 1.
    package var line: Int
    package var code, message: String
    /// The name of the invalid member or column, or `nil` if the error names none.
    package var field: String?

    /// The maximum length of ``field``, in characters: less than a token, which a file may have in place of a name.
    private static let maximumField = 48

    init(_ error: RequestError, line: Int) {
        self.line = line
        self.code = error.code
        self.message = error.message
        self.field = error.path.map { $0.count > Self.maximumField ? "\($0.prefix(Self.maximumField))…" : $0 }
    }
}

/// The error of an import that did not reach the end of its file. The devices registered so far stay registered, and
/// the whole file may be sent again.
package struct ImportInterruption: Error, CustomStringConvertible {
    package var progress: ImportProgress
    /// The error of the store or of the source of the bytes, or the ``RequestError`` of the header row.
    package var cause: any Error

    package var description: String {
        """
        the import stopped after \(self.progress.lines) lines: \(self.progress.registered) devices are registered, \
        \(self.progress.refused) lines were refused; send the file again, nothing is registered twice
        """
    }
}
