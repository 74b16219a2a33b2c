import Foundation
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The registry of devices and their tokens' generations, which are in the database, and in memory to check pushes.
///
/// A change is written to the database first and then applied in memory, in the order of the transactions.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [UUID: ActivatedDevice] = [:]
        /// The identity behind each token of 32 bytes, because such a token does not contain it.
        var shortTokens: [DeviceToken: TokenMinter.Claims] = [:]
        /// The completions to call when a token has been minted. Concurrent requests for one token share an entry, so
        /// that all receive the same token.
        var minting: [MinterKey: [@Sendable (Result<DeviceToken?, any Error>) -> Void]] = [:]
    }

    private struct MinterKey: Hashable {
        var device: UUID
        var environment: PushEnvironment
        var topic: TopicHash
    }

    /// The maximum number of apps of one device, in both environments together. Further apps receive no device token.
    static let maximumInstalls = 1000

    let minter: TokenMinter
    private let database: GatewayDatabase
    private let events: EventLog
    private let time: any TimeSource
    private let state: Mutex<State>

    init(database: GatewayDatabase, minter: TokenMinter, events: EventLog, time: any TimeSource) throws {
        (self.minter, self.database, self.events, self.time) = (minter, database, events, time)
        var state = State()
        let (devices, shortTokens) = try database.read { (try $0.devices.devices(), try $0.devices.shortTokens()) }
        for device in devices { state.devices[device.id] = device }
        for (claims, keyID) in shortTokens {
            if let token = minter.shortToken(claims, keyID: keyID) { state.shortTokens[token] = claims }
        }
        self.state = Mutex(state)
    }

    /// The number of activated devices, without deleted ones.
    var count: Int { self.state.withLock { $0.devices.values.count { $0.deletedAt == nil } } }

    /// Returns at most `limit` of the devices that match and are not deleted, in the order of their activation.
    /// - Parameter cursor: The device after which to begin, which may have been deleted, or `nil` to begin with the
    ///   oldest.
    /// - Returns: The devices, or `nil` if there never was a device `cursor`.
    func page(after cursor: UUID?, limit: Int, where isIncluded: (ActivatedDevice) -> Bool) -> [ActivatedDevice]? {
        let all = self.state.withLock { $0.devices }
        var rest = all.values.filter { $0.deletedAt == nil }
        if let cursor {
            guard let start = all[cursor] else { return nil }
            rest.removeAll { !Self.isBefore(start, $0) }
        }
        return Array(rest.sorted(by: Self.isBefore).lazy.filter(isIncluded).prefix(limit))
    }

    private static func isBefore(_ left: ActivatedDevice, _ right: ActivatedDevice) -> Bool {
        guard left.activatedAt == right.activatedAt else { return left.activatedAt < right.activatedAt }
        return left.id.uuidString < right.id.uuidString
    }

    /// Returns a device, or `nil` if it was never activated, or was deleted.
    func device(_ id: UUID) -> ActivatedDevice? {
        self.state.withLock { $0.devices[id] }.flatMap { $0.deletedAt == nil ? $0 : nil }
    }

    /// Returns the state of a token. The token is opened (``TokenMinter/open(_:)``) or looked up, and its generation is
    /// compared.
    func status(of token: DeviceToken, in environment: PushEnvironment) -> TokenStatus {
        let opened = token.bytes.count == TokenMinter.shortLength ? nil : self.minter.open(token)
        return self.state.withLock { state in
            guard let claims = opened ?? state.shortTokens[token], claims.environment == environment,
                let device = state.devices[claims.device],
                let install = device.install(claims.topic, in: environment), claims.generation <= install.generation
            else { return .unknown }
            let ended = install.end(of: claims.generation)
            if let end = [ended, device.deletedAt].compactMap({ $0 }).min(), end <= self.time.now {
                return .unregistered(.init(token: token, device: device.id, topic: claims.topic, since: end))
            }
            return .active(device: device.id, topic: claims.topic)
        }
    }

    func isInstalled(_ topic: TopicHash, on device: UUID, in environment: PushEnvironment) -> Bool {
        self.state.withLock { state in
            guard let device = state.devices[device], device.deletedAt == nil else { return false }
            return device.install(topic, in: environment)?.isActive ?? false
        }
    }

    /// Returns the topic with this hash among the device's apps, including removed apps, or `nil` if there is none.
    func topic(_ hash: TopicHash, on device: UUID, in environment: PushEnvironment) -> Topic? {
        self.state.withLock { $0.devices[device]?.install(hash, in: environment)?.topic }
    }

    // MARK: Tokens

    /// Returns the device token of an app, or `nil` if the app was never installed on the device or was removed.
    func currentToken(_ topic: TopicHash, on device: UUID, in environment: PushEnvironment) throws -> DeviceToken? {
        guard let install = self.device(device)?.install(topic, in: environment), install.isActive else { return nil }
        return try self.token(install, device: device)
    }

    /// Returns the device token of an app. The app is installed if it is new or was removed. A new token is minted if
    /// the current one was minted with an earlier token key or has another length. The call waits for the database only
    /// if it makes a change.
    /// - Parameters:
    ///   - length: ``TokenMinter/shortLength``, or 0 for an encrypted token.
    ///   - completion: Called with the token, or with `nil` if the device does not exist or has ``maximumInstalls``
    ///     apps.
    func token(
        _ topic: Topic,
        on device: UUID,
        in environment: PushEnvironment,
        length: Int = 0,
        now: Timestamp,
        completion: @escaping @Sendable (Result<DeviceToken?, any Error>) -> Void
    ) {
        let hash = TopicHash(topic)
        guard let known = self.device(device) else { return completion(.success(nil)) }
        let current = known.install(hash, in: environment)
        if let current, current.isActive, current.keyID == self.minter.currentKeyID, current.tokenLength == length {
            return completion(Result { try self.token(current, device: device) })
        }
        guard current != nil || known.installs.count < Self.maximumInstalls else { return completion(.success(nil)) }
        let key = MinterKey(device: device, environment: environment, topic: hash)
        let isFirst = self.state.withLock { state in
            state.minting[key, default: []].append(completion)
            return state.minting[key]?.count == 1
        }
        guard isFirst else { return }
        var install = ActivatedDevice.Install(
            environment: environment,
            topic: topic,
            hash: hash,
            generation: (current?.generation ?? 0) &+ 1,
            keyID: self.minter.currentKeyID,
            mintedAt: now,
            tokenLength: length
        )
        if let current { install = current.followed(by: install) }
        self.save(install, key: key)
    }

    private func save(_ install: ActivatedDevice.Install, key: MinterKey) {
        self.database.commit {
            try $0.devices.save(install, on: key.device)
        } completion: { result in
            if case .success = result {
                self.put(install, on: key.device)
                self.events.append(
                    Event(
                        .tokenMinted,
                        device: key.device,
                        time: install.mintedAt,
                        environment: install.environment,
                        topic: install.topic
                    )
                )
            }
            let token = result.flatMap { Result { try self.token(install, device: key.device) } }
            for completion in self.state.withLock({ $0.minting.removeValue(forKey: key) }) ?? [] { completion(token) }
        }
    }

    private func token(_ install: ActivatedDevice.Install, device: UUID) throws -> DeviceToken? {
        let claims = install.claims(on: device)
        guard install.tokenLength == TokenMinter.shortLength else {
            return try self.minter.deviceToken(claims, keyID: install.keyID)
        }
        return self.minter.shortToken(claims, keyID: install.keyID)
    }

    private func put(_ install: ActivatedDevice.Install, on device: UUID) {
        let isShort = install.tokenLength == TokenMinter.shortLength
        let claims = install.claims(on: device)
        let shortToken = isShort ? self.minter.shortToken(claims, keyID: install.keyID) : nil
        self.state.withLock { state in
            if let shortToken { state.shortTokens[shortToken] = claims }
            guard var installs = state.devices[device]?.installs else { return }
            installs.removeAll { $0.hash == install.hash && $0.environment == install.environment }
            installs.append(install)
            state.devices[device]?.installs = installs
        }
    }

    // MARK: Changes by the admin API

    func activate(_ device: ActivatedDevice) async throws {
        try await self.database.commit { try $0.devices.insert(device) }
        self.state.withLock { $0.devices[device.id] = device }
        self.events.append(Event(.activated, device: device.id, time: device.activatedAt))
    }

    /// Records that the user has moved from the hardware `old` to new hardware: adds `device`, and deletes `old`.
    /// - Returns: Whether `old` existed.
    func restore(_ device: ActivatedDevice, of old: UUID) async throws -> Bool {
        let now = device.activatedAt
        let deleted = try await self.change(old, Event(.deleted, device: old, time: now)) { table in
            try table.insert(device)
            try table.set(.deletedAt, of: old, to: now)
        } apply: {
            $0.deletedAt = now
        }
        guard deleted != nil else { return false }
        self.state.withLock { $0.devices[device.id] = device }
        self.events.append(Event(.activated, device: device.id, time: now))
        return true
    }

    /// Records that the device's system was reinstalled: it has a new certificate, and its earlier tokens become
    /// invalid.
    /// - Returns: The changed device, or `nil` if it does not exist.
    func reinstall(_ id: UUID, certificateSerial: String, now: Timestamp) async throws -> ActivatedDevice? {
        try await self.change(id, Event(.activated, device: id, time: now)) { table in
            try table.reinstall(id, certificateSerial: certificateSerial, at: now)
        } apply: { device in
            device.certificateSerial = certificateSerial
            device.revokedAt = nil
            device.epoch &+= 1
            for index in device.installs.indices { device.installs[index].end(at: now) }
        }
    }

    /// Revokes the device's certificate. Its tokens stay valid.
    /// - Returns: Whether the device existed.
    func revoke(_ id: UUID, now: Timestamp) async throws -> Bool {
        try await self.set(.revokedAt, of: id, Event(.revoked, device: id, time: now)) != nil
    }

    /// Deletes a device, which makes its tokens invalid.
    /// - Returns: Whether the device existed.
    func delete(_ id: UUID, now: Timestamp) async throws -> Bool {
        try await self.set(.deletedAt, of: id, Event(.deleted, device: id, time: now)) != nil
    }

    /// Removes an app from a device. The device receives no further messages for it.
    /// - Parameter delay: The time for which the app's token stays valid, because Apple may learn of a removal late
    ///   (reference 7.7).
    /// - Returns: Whether the app was on the device.
    func remove(
        _ topic: Topic,
        from id: UUID,
        in environment: PushEnvironment,
        now: Timestamp,
        delay: Duration = .zero
    ) async throws -> Bool {
        let (hash, end) = (TopicHash(topic), now.advanced(by: delay))
        guard self.isInstalled(hash, on: id, in: environment) else { return false }
        let event = Event(.appRemoved, device: id, time: now, environment: environment, topic: topic)
        return try await self.change(id, event) { table in
            try table.end(topic, on: id, in: environment, at: end)
        } apply: { device in
            for index in device.installs.indices
            where device.installs[index].hash == hash && device.installs[index].environment == environment {
                device.installs[index].end(at: end)
            }
        } != nil
    }

    /// Records the time at which the device last connected or disconnected. The call does not wait for the database.
    func updateLastSeen(_ id: UUID, at now: Timestamp) {
        self.state.withLock { $0.devices[id]?.lastSeenAt = now }
        self.database.commit {
            try $0.devices.set(.lastSeenAt, of: id, to: now)
        } completion: { _ in
        }
    }

    private func set(_ column: DeviceTable.TimeColumn, of id: UUID, _ event: Event) async throws -> ActivatedDevice? {
        try await self.change(id, event) { table in
            try table.set(column, of: id, to: event.time)
        } apply: {
            $0[keyPath: column.property] = event.time
        }
    }

    /// Writes a change to the database, then applies it in memory and logs `event`.
    /// - Returns: The changed device, or `nil` if it does not exist.
    private func change(
        _ id: UUID,
        _ event: Event,
        write: @escaping @Sendable (DeviceTable) throws -> Void,
        apply: @escaping @Sendable (inout ActivatedDevice) -> Void
    ) async throws -> ActivatedDevice? {
        guard self.device(id) != nil else { return nil }
        return try await withCheckedThrowingContinuation { waiter in
            self.database.commit {
                try write($0.devices)
            } completion: { result in
                waiter.resume(
                    with: result.map { () -> ActivatedDevice? in
                        defer { self.events.append(event) }
                        return self.state.withLock { state in
                            guard var device = state.devices[id] else { return nil }
                            apply(&device)
                            state.devices[id] = device
                            return device
                        }
                    }
                )
            }
        }
    }
}
