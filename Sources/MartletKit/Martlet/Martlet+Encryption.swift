#if Encryption
extension Martlet {
    /// Registers the key to which the provider encrypts content; `nil` ends encryption.
    ///
    /// Call it at each launch with ``EncryptionKeys/current()`` of the same storage, and after ``EncryptionKeys/rotate()``.
    /// - Throws: ``UsageError/serviceExtension``
    public func setEncryptionKey(_ key: EncryptionKey?) throws(UsageError) {
        try self.setEncryptionKey(id: key?.id ?? "", publicKey: key?.publicKey)
    }
}
#endif

extension Martlet {
    /// Removes the keys for encrypted content from the storage.
    func removeKeys() {
        #if Encryption
        do {
            try EncryptionKeys(storage: self.storage).removeAll()
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
        #endif
    }

    /// Returns the content of an encrypted notification; the placeholder, with a report, if it cannot be opened.
    func opened(_ notification: ReceivedNotification) -> ReceivedNotification {
        guard notification.sealed != nil else { return notification }
        #if Encryption
        let opened = EncryptionKeys(storage: self.storage).open(notification, app: self.configuration.app)
        if let failure = opened.failure { self.report(.contentNotOpened(reason: failure.description)) }
        return opened.notification
        #else
        self.report(.contentNotOpened(reason: "the app was built without the trait Encryption"))
        return notification
        #endif
    }
}
