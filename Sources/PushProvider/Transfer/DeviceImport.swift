package import PushProtocol
package import PushStore

/// Registers what a file says, while it comes.
package struct DeviceImport {
    /// Registrations of one transaction: a writer in between waits no longer than for these.
    package static let batch = 1000

    private let store: any DeviceStore
    private let app: Int64
    private var reader: ImportReader
    private var waiting: [DeviceRegistration] = []
    /// What has been done so far; what is counted as registered is on disk.
    package private(set) var report = ImportReport()

    package init(_ format: TransferFormat, into store: any DeviceStore, app: Int64) {
        self.store = store
        self.app = app
        self.reader = ImportReader(format)
    }

    /// Takes the next piece of the file. Returns once there is room for another.
    /// - Throws: what the store throws. What was registered before stays; the file can be imported again.
    package mutating func take(_ bytes: [UInt8], now: Timestamp) async throws {
        try await self.take(self.reader.read(bytes), now: now)
    }

    /// After the last piece.
    package mutating func end(now: Timestamp) async throws {
        try await self.take(self.reader.end(), now: now)
        try await self.register(now: now)
    }

    /// Whether nothing that comes can be read.
    package var isHopeless: Bool { self.reader.isHopeless }

    private mutating func take(_ lines: [ImportReader.Line], now: Timestamp) async throws {
        for line in lines {
            switch line {
            case .refused(let refusal): self.report.refuse(refusal)
            case .device(let registration):
                self.waiting.append(registration)
                if self.waiting.count >= Self.batch { try await self.register(now: now) }
            }
        }
    }

    private mutating func register(now: Timestamp) async throws {
        guard !self.waiting.isEmpty else { return }
        let results = try await self.store.register(self.waiting, app: self.app, now: now)
        self.waiting.removeAll(keepingCapacity: true)
        for result in results { self.report.count(result.kind) }
    }
}

/// What an import came to.
package struct ImportReport: Hashable, Sendable {
    /// Refused lines that are told of one by one.
    package static let maximumRefusals = 100

    package private(set) var added = 0
    package private(set) var refreshed = 0
    /// Installations that have another token now.
    package private(set) var replaced = 0
    /// All refused lines.
    package private(set) var refused = 0
    /// The first of them.
    package private(set) var refusals: [ImportRefusal] = []

    package init() {}

    /// Devices that are on disk.
    package var registered: Int { self.added + self.refreshed + self.replaced }

    mutating func count(_ kind: RegistrationResult.Kind) {
        switch kind {
        case .added: self.added += 1
        case .refreshed: self.refreshed += 1
        case .tokenReplaced: self.replaced += 1
        }
    }

    mutating func refuse(_ refusal: ImportRefusal) {
        self.refused += 1
        if self.refusals.count < Self.maximumRefusals { self.refusals.append(refusal) }
    }

    /// As it is told.
    package var json: JSONValue {
        .object([
            "added": .integer(Int64(self.added)), "refreshed": .integer(Int64(self.refreshed)),
            "replaced": .integer(Int64(self.replaced)), "refused": .integer(Int64(self.refused)),
            "refusals": .array(self.refusals.map(\.json)),
        ])
    }
}
