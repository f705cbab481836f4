package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// Throwaway starts both servers, without fsync, in a new folder below parent.
// The returned release stops them and deletes all of it. Folders that an earlier
// caller could not release, because it was killed, are released first.
func Throwaway(ctx context.Context, parent string, opts Options) (State, func(context.Context) error, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	opts.Throwaway = true
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return State{}, nil, fmt.Errorf("make the folder of throwaway servers: %w", err)
	}
	if err := sweep(ctx, parent, opts.Log); err != nil {
		return State{}, nil, err
	}
	dir, err := shared(parent, "exec-")
	if err != nil {
		return State{}, nil, err
	}
	owner, err := claim(dir)
	if err != nil {
		return State{}, nil, err
	}
	release := func(ctx context.Context) error {
		if err := Remove(ctx, dir, opts.Log); err != nil {
			return err
		}
		return errors.Join(os.RemoveAll(dir), owner.Close())
	}
	state, err := Up(ctx, dir, opts)
	if err != nil {
		return State{}, nil, errors.Join(err, release(context.WithoutCancel(ctx)))
	}
	return state, release, nil
}

// claim takes the lock that tells a folder in use from a left one: the kernel
// gives it back when its holder ends, however that happens. It returns nil
// without an error when another process holds the lock.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "owner"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the owner's lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, f.Close()
	case err != nil:
		return nil, errors.Join(fmt.Errorf("take the owner's lock: %w", err), f.Close())
	}
	return f, nil
}

// sweep releases the folders below parent whose owner is gone. A folder without
// an owner file is just being made by another process.
func sweep(ctx context.Context, parent string, log *slog.Logger) error {
	owners, err := filepath.Glob(filepath.Join(parent, "exec-*", "owner"))
	if err != nil {
		return fmt.Errorf("list left servers: %w", err)
	}
	for _, path := range owners {
		dir := filepath.Dir(path)
		owner, err := claim(dir)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			continue // released meanwhile, or another user's
		}
		if err != nil {
			return err
		}
		if owner == nil {
			continue
		}
		log.WarnContext(ctx, "removing servers whose owner was killed", "folder", dir)
		if err := errors.Join(Remove(ctx, dir, log), os.RemoveAll(dir), owner.Close()); err != nil {
			return err
		}
	}
	return nil
}
