package import ProviderModel
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes

/// Creates, deletes and lists the broadcast channels of apps, at the push service and in the store.
package struct ChannelDirectory: Sendable {
    /// A channel of an app in a ``Listing``, with the sides on which it exists.
    package struct Entry: Hashable, Sendable {
        /// The sides on which a channel exists: the provider, the push service, or both.
        package enum State: String, Hashable, Sendable, CaseIterable {
            /// The state of a channel that both the provider and the push service have.
            case active
            /// The state of a channel that only the provider has: broadcasts to it are rejected.
            case missing
            /// The state of a channel that only the push service has: it was created by another program.
            case foreign
            /// The state of a channel of the provider if the push service was not queried, or did not respond.
            case unchecked
        }

        package var id: ChannelID
        package var environment: PushEnvironment
        package var state: State
        /// The stored channel, or `nil` for a channel that another program has created.
        package var record: ChannelRecord?
    }

    /// The channels of an app, and the errors of the push services that could not be queried.
    package struct Listing: Sendable {
        package var entries: [Entry] = []
        /// The errors of the environments whose push service could not be queried or did not respond.
        package var problems: [PushEnvironment: RequestError] = [:]
    }

    private let store: any AppStore & ChannelStore
    private let directory: SenderDirectory
    private let source: any SenderSource
    private let time: any TimeSource

    package init(
        store: any AppStore & ChannelStore,
        directory: SenderDirectory,
        source: any SenderSource,
        time: any TimeSource
    ) {
        (self.store, self.directory, self.source, self.time) = (store, directory, source, time)
    }

    /// Creates a channel at the push service, which stores messages for it as `storage` says, and adds it to the store.
    /// `name` is the provider's own name for the channel, or `nil` for none.
    /// - Throws: ``RequestError`` if the credential is unusable, the push service refuses or the outcome is unknown;
    ///   ``RetryLaterError`` if the push service is busy or cannot be reached.
    package func create(
        _ app: AppRecord,
        _ environment: PushEnvironment,
        storage: ChannelStorage,
        name: String?
    ) async throws -> ChannelRecord {
        let service = try await self.service(app, environment)
        let id: ChannelID
        do {
            id = try await service.createChannel(storing: storage, for: app.bundleID)
        } catch {
            throw ChannelFailure.error(for: error)
        }
        let channel = ChannelRecord(
            id: id,
            app: app.id,
            environment: environment,
            storage: storage,
            name: name,
            createdAt: self.time.now
        )
        // The channel exists by now: it is stored even if the request was cancelled.
        let store = self.store
        return try await Task { try await store.addChannel(channel) }.value
    }

    /// Returns a channel. If the provider does not know it, the channel is read from the push service and stored.
    /// - Parameter environment: The environment of the channel, or `nil` to look for it among stored channels only.
    /// - Throws: The errors of ``create(_:_:storage:name:)``; `no_such_channel` if it was deleted or is not found.
    package func channel(
        _ id: ChannelID,
        of app: AppRecord,
        _ environment: PushEnvironment?
    ) async throws -> ChannelRecord {
        let known = try await self.store.channel(id, app: app.id, environment: environment)
        if let known {
            guard known.deletedAt == nil else { throw ChannelFailure.deleted }
            return known
        }
        guard let environment else { throw ChannelFailure.unknown }
        let service = try await self.service(app, environment)
        let storage: ChannelStorage
        do {
            storage = try await service.storage(of: id, of: app.bundleID)
        } catch {
            throw ChannelFailure.error(for: error)
        }
        return try await self.store.addChannel(
            ChannelRecord(id: id, app: app.id, environment: environment, storage: storage, createdAt: self.time.now)
        )
    }

    /// Deletes a channel at the push service and in the store, also if the push service no longer has it.
    /// - Parameter environment: The environment of the channel, or `nil` for that of the stored channel.
    /// - Throws: The errors of ``create(_:_:storage:name:)``; `no_such_channel` if it is not stored and no
    ///   `environment` is given.
    package func delete(_ id: ChannelID, of app: AppRecord, _ environment: PushEnvironment?) async throws {
        let known = try await self.store.channel(id, app: app.id, environment: environment)
        guard let environment = environment ?? known?.environment else { throw ChannelFailure.unknown }
        let service = try await self.service(app, environment)
        do {
            try await service.deleteChannel(id, of: app.bundleID)
        } catch {
            // The push service may have deleted the channel already, for example at the first attempt of this request.
            guard ChannelFailure.meansNoChannel(error), known?.deletedAt == nil, known != nil else {
                throw ChannelFailure.error(for: error)
            }
        }
        _ = try await self.store.channelDeleted(id, app: app.id, environment: environment, at: self.time.now)
    }

    /// Returns an app's channels: first the stored ones in their order, then those that other programs have created.
    /// - Parameters:
    ///   - environment: The environment to list, or `nil` for all environments with a credential or a channel.
    ///   - isChecked: `true` to query the push service, and `false` to list the stored channels alone, all `unchecked`.
    package func channels(of app: AppRecord, _ environment: PushEnvironment?, isChecked: Bool) async throws -> Listing {
        let known = try await self.store.channels(app: app.id, environment: environment)
        let credentials = try await self.store.environments(app: app.id)
        var listing = Listing()
        for wanted in PushEnvironment.allCases where environment == nil || environment == wanted {
            let records = known.filter { $0.environment == wanted }
            guard !records.isEmpty || credentials.contains(wanted) else { continue }
            var ids: [ChannelID]?
            if isChecked {
                do {
                    ids = try await self.ids(app, wanted)
                } catch let error as RequestError {
                    listing.problems[wanted] = error
                } catch let later as RetryLaterError {
                    listing.problems[wanted] = later.error
                }
            }
            listing.entries += Self.entries(records, ids, wanted)
        }
        return listing
    }

    private func ids(_ app: AppRecord, _ environment: PushEnvironment) async throws -> [ChannelID] {
        let service = try await self.service(app, environment)
        do {
            return try await service.channels(of: app.bundleID)
        } catch {
            throw ChannelFailure.error(for: error)
        }
    }

    /// Returns the channels with their states. `ids` are the channels of the push service, or `nil` if they are
    /// unknown, which leaves all channels `unchecked`.
    private static func entries(
        _ records: [ChannelRecord],
        _ ids: [ChannelID]?,
        _ environment: PushEnvironment
    ) -> [Entry] {
        let there = ids.map { Set($0) }
        let known = Set(records.map(\.id))
        let own = records.map { record in
            let state: Entry.State = there.map { $0.contains(record.id) ? .active : .missing } ?? .unchecked
            return Entry(id: record.id, environment: environment, state: state, record: record)
        }
        return own
            + (ids ?? []).filter { !known.contains($0) }.map {
                Entry(id: $0, environment: environment, state: .foreign, record: nil)
            }
    }

    private func service(_ app: AppRecord, _ environment: PushEnvironment) async throws -> any ChannelServiceClient {
        let target = AppEnvironment(app: app.id, environment: environment)
        switch try await self.directory.credential(target, at: self.time.now) {
        case .success(let credential):
            do {
                return try self.source.channels(for: credential, app: app.id, environment: environment)
            } catch {
                throw ChannelFailure.credential("\(error)")
            }
        case .failure(let failure): throw ChannelFailure.credential(failure.fault.description)
        }
    }
}
